import Containers
import GStreamer
import Images
import RetrogradeEngine

/// Reads animated WebP and PNG, of which GStreamer 1.22's decoders show the first picture only.
enum AnimationReader {
  /// - Returns: nil where the file at `path` is neither.
  /// - Throws: ``RetrogradeError``.
  static func read(
    _ path: String, _ options: ReverseOptions, _ gauge: MemoryGauge, _ cancellation: Cancellation
  ) throws -> PlayableSource? {
    // RIFF is also what WAV and AVI are, of any length.
    guard let file = RandomAccessFile(path) else { return nil }
    let start = file.read(0..<min(64, file.size)) ?? []
    let canvas = WebPFrames.canvas(start) ?? (APNGFrames.isAnimated(file.read) ? APNGFrames.canvas(start) : nil)
    // What can't be read must not pass for a picture that does not move.
    try file.checkReading(path)
    guard let canvas else { return nil }
    // The file as it is, taken apart where it is a PNG; the canvas, what was on it before, and a frame on its way.
    let needed = file.size * (WebPFrames.isAnimated(start) ? 1 : 3) + canvas.width * canvas.height * 4 * 5
    guard needed < options.memory.bytes else {
      throw RetrogradeError(
        .damagedInput,
        "\(path): an animation of \(canvas.width)x\(canvas.height) in a file of \(ByteCount(file.size)) takes "
          + "\(ByteCount(needed)) of memory to decode, and the budget (--memory) is \(options.memory)")
    }
    let all = file.read(0..<file.size)
    try file.checkReading(path)
    guard let bytes = all else { return nil }
    var options = options
    options.memory = ByteCount(options.memory.bytes - needed)
    var recording: RecordedVideo?
    func add(_ pixels: UnsafeRawBufferPointer, _ width: Int, _ height: Int, from start: ClockTime, to end: ClockTime)
      throws
    {
      try cancellation.check()
      guard
        let caps = Caps(
          "video/x-raw,format=RGBA,width=\(width),height=\(height),framerate=(fraction)0/1,pixel-aspect-ratio=1/1")
      else { return }
      let buffer = try Buffer(size: pixels.count) { $0.copyMemory(from: pixels) }
      buffer.stamp(pts: start, duration: end - start)
      let sample = Sample(buffer: buffer, caps: caps)
      var known = try recording ?? RecordedVideo(like: sample, options, gauge)
      try known.add(sample)
      recording = known
    }
    do {
      var shown = ClockTime.zero
      let isWebP = try WebPFrames.read(bytes) { pixels, width, height, end in
        let next = ClockTime(nanoseconds: Int64(end) * 1_000_000)
        try add(pixels, width, height, from: shown, to: next)
        shown = next
      }
      if !isWebP {
        guard let frames = APNGFrames(bytes) else { return nil }
        try read(frames, add)
      }
    } catch let error as ImageError {
      throw RetrogradeError(.damagedInput, "\(path): \(error.message)")
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(path, error)
    }
    guard let recording else { throw RetrogradeError(.damagedInput, "\(path): there are no pictures in it") }
    let video = try recording.source(tags: nil, description: "")
    let index = SourceIndex(recipe: nil, video: video.video, audio: [], tags: nil, warnings: [])
    return try PlayableSource(path, index, video, options: options, count: options.count)
  }

  private static func read(
    _ animation: APNGFrames, _ add: (UnsafeRawBufferPointer, Int, Int, ClockTime, ClockTime) throws -> Void
  ) throws {
    let decoder = try Pipeline(
      "appsrc name=in format=time block=true max-buffers=1 caps=image/png ! pngdec ! videoconvert ! video/x-raw,format=RGBA ! "
        + "appsink name=out sync=false max-buffers=1")
    defer { decoder.set(.null) }
    let (input, output) = (try decoder.appSource("in"), try decoder.appSink("out"))
    decoder.set(.playing)
    var canvas = [UInt8](repeating: 0, count: animation.width * animation.height * 4)
    var time = ClockTime.zero
    for frame in animation.frames {
      let png = try Buffer(size: frame.png.count) { $0.copyBytes(from: frame.png) }
      png.stamp(pts: time, duration: ClockTime(nanoseconds: 1))
      guard input.push(png), let sample = output.pull(timeout: ClockTime(seconds: 10)) else {
        if case .failed(let error)? = decoder.nextMessage() { throw error }
        throw ImageError(message: "damaged beyond use")
      }
      let pixels = try sample.buffer.withBytes { Array($0) }
      guard pixels.count >= frame.width * frame.height * 4 else { throw ImageError(message: "damaged beyond use") }
      let before = canvas
      APNGFrames.draw(pixels, of: frame, on: &canvas, width: animation.width)
      let end = time + ClockTime(nanoseconds: Int64(frame.milliseconds * 1_000_000))
      try canvas.withUnsafeBytes { try add($0, animation.width, animation.height, time, end) }
      time = end
      switch frame.disposal {
      case 1: APNGFrames.clear(frame, on: &canvas, width: animation.width)
      case 2: canvas = before
      default: break
      }
    }
  }
}
