import Containers
import GStreamer
import Images
import MediaTime
import RetrogradeEngine

/// Reader of animated WebP and PNG. GStreamer does not decode animated WebP, and decodes only the
/// first frame of an animated PNG (`Quirk.webpdecAnimation`, `Quirk.pngdecAnimation`).
struct AnimationReader {
  private enum Form {
    case webP(WebPFrames)
    case png(APNGFrames)
  }

  /// Name of the source in messages.
  private let path: String
  private let form: Form
  /// Metadata of the file.
  private let facts: ContainerFacts
  /// Start of each frame.
  private let starts: [ClockTime]
  /// Duration of each frame.
  private let delays: [ClockTime]
  private let caps: Caps
  /// Spool directory, and the memory budget that remains for decoded frames.
  private let resources: Resources
  private let playback: PlaybackOptions
  private let output: OutputRequirements

  /// Indexes the frames of the file at `location`, without decoding.
  /// - Parameter name: name of the file in messages; nil to use the path.
  /// - Returns: nil if the file is neither an animated WebP nor an animated PNG.
  /// - Throws: ``RetrogradeError``.
  init?(
    _ location: String, called name: String? = nil, playback: PlaybackOptions = PlaybackOptions(),
    for output: OutputRequirements = OutputRequirements(),
    _ resources: Resources
  ) throws {
    // Read only the header at first: WAV and AVI files, which can be very large, begin with a RIFF
    // header like WebP files.
    guard let file = RandomAccessFile(location) else { return nil }
    let path = name ?? location
    let start = file.read(0..<min(64, file.size)) ?? []
    let canvas = WebPFrames.canvas(start) ?? (APNGFrames.isAnimated(file.read) ? APNGFrames.canvas(start) : nil)
    // A read error must not make the file look like a still image.
    try file.checkReading(path)
    guard let canvas else { return nil }
    // Memory is needed for the file's bytes (raw and parsed) and for five canvases: the current
    // canvas, the canvas before the current frame, and frames in flight downstream.
    let needed = file.size * (WebPFrames.isAnimated(start) ? 2 : 3) + canvas.width * canvas.height * 4 * 5
    guard needed < resources.memory.bytes else {
      throw RetrogradeError(
        .damagedInput,
        about: path,
        "decoding this animation (\(canvas.width)x\(canvas.height) pixels, \(ByteCount(file.size)) file) needs "
          + "\(ByteCount(needed)) of memory, but \(setting: .memory) is \(resources.memory)",
        remedy: "raise \(setting: .memory)")
    }
    let all = file.read(0..<file.size)
    try file.checkReading(path)
    let facts = ContainerFacts(location)
    guard let bytes = all,
      let form = WebPFrames(bytes).map(Form.webP) ?? APNGFrames(bytes).map(Form.png),
      let caps = Caps(
        "video/x-raw,format=RGBA,width=\(canvas.width),height=\(canvas.height),framerate=(fraction)0/1,"
          + "pixel-aspect-ratio=1/1")
    else { return nil }
    if case .png(let frames) = form, frames.frames.first?.png.withUnsafeBytes(PNGPacket.isDeepRGB) ?? false {
      throw RetrogradeError(
        .missingPlugin, about: path, "animated PNG in RGB with 16 bits a sample is not supported",
        remedy: "convert it first: ffmpeg -i \(Shell.quoted(path)) -pix_fmt rgb24 animation.apng")
    }
    Log.index.info("\(path): is an animation, read whole, and without GStreamer, which shows its first frame only")
    self.path = path
    self.form = form
    self.facts = facts
    self.caps = caps
    delays =
      switch form {
      case .webP(let frames): frames.frames.map { ClockTime(nanoseconds: Int64($0.milliseconds) * 1_000_000) }
      case .png(let frames): frames.frames.map { ClockTime(nanoseconds: Int64($0.milliseconds * 1_000_000)) }
      }
    var times: [ClockTime] = []
    var end = ClockTime.zero
    for delay in delays {
      times.append(end)
      end = end + delay
    }
    starts = times
    self.resources = Resources(
      memory: ByteCount(resources.memory.bytes - needed), spoolDirectory: resources.spoolDirectory)
    self.playback = playback
    self.output = output
    guard !delays.isEmpty else {
      throw RetrogradeError(
        .damagedInput, about: path, "too damaged to read: no frame of the animation is complete",
        remedy: "get the whole file")
    }
  }

  private var rate: FrameRateLimit { FrameRateLimit(playback, output) }

  /// Creates a source that only describes the file, for a report. The frames of this source can't
  /// be played.
  func described(_ gauge: MemoryGauge) throws -> PlayableSource {
    try source(
      try VideoSource.described(
        caps, tags: orientation, starts: starts, lastDelay: delays.last, rate: rate, resources, gauge), [])
  }

  /// Decodes all frames.
  /// - Parameter report: called after each frame, with the frame's time.
  func decoded(
    _ gauge: MemoryGauge, _ cancellation: Cancellation, report: (IndexProgress) -> Void
  ) throws -> PlayableSource {
    var recording: RecordedVideo?
    func add(_ pixels: UnsafeRawBufferPointer, _ number: Int) throws {
      try cancellation.check()
      let buffer = try Buffer(size: pixels.count) { $0.copyMemory(from: pixels) }
      buffer.stamp(pts: starts[number], duration: delays[number])
      let sample = Sample(buffer: buffer, caps: caps)
      var known = try recording ?? RecordedVideo(like: sample, rate: rate, resources, gauge)
      try known.add(sample)
      recording = known
      report(IndexProgress(position: starts[number], end: starts.last.map { $0 + (delays.last ?? .zero) }))
    }
    do {
      switch form {
      case .webP(let frames): _ = try frames.read(add)
      case .png(let frames): try read(frames, add)
      }
    } catch let error as ImageError {
      throw RetrogradeError(.damagedInput, about: path, "\(error.message)")
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(path, error)
    }
    guard let recording, let last = starts.last else {
      throw RetrogradeError(.damagedInput, about: path, "too damaged to read: no frame can be decoded")
    }
    let lost = starts.count - recording.count
    let undecoded: [Warning] =
      lost > 0 ? [.undecodable(lost, of: starts.count, from: starts[recording.count], to: last)] : []
    return try source(try recording.source(tags: orientation, description: "", declaresDurations: true), undecoded)
  }

  private func source(_ video: VideoSource, _ warnings: [Warning]) throws -> PlayableSource {
    let (plays, next) =
      switch form {
      case .webP(let frames): (frames.plays, frames.next)
      case .png(let frames): (frames.plays, frames.next)
      }
    let further = next.map { [Warning.laterFiles(1, at: $0, after: end)] } ?? []
    let details = facts.details.leftOut(playback)
    var index = SourceIndex(
      recipe: nil, video: video.video, audio: [], tags: (nil as TagList?).adding(facts.tags)?.withKnownComments,
      warnings: further + rounding + damage + details + warnings)
    index.plays = plays
    return try PlayableSource(path, index, video, playback: playback, count: playback.count, for: output)
  }

  /// Tags of the video: only its orientation.
  private var orientation: TagList? { (nil as TagList?).oriented(facts.imageOrientation) }

  private var end: ClockTime { starts.last.map { $0 + (delays.last ?? .zero) } ?? .zero }

  /// Warning if the animation has more than eight bits per component, because only eight bits are
  /// read.
  private var rounding: [Warning] {
    guard case .png(let frames) = form, frames.frames.first?.png.withUnsafeBytes(PNGPacket.isDeep) ?? false else {
      return []
    }
    return [Warning(.converted, "changed: 16 bits per sample become 8, since animated PNG is always read with 8 bits")]
  }

  /// Warnings about frames that are missing from the file.
  private var damage: [Warning] {
    switch form {
    case .webP(let frames): frames.damage.map { [damage($0)] } ?? []
    case .png(let frames): damage(frames)
    }
  }

  private func damage(_ damage: WebPFrames.Damage) -> Warning {
    switch damage {
    case .cut:
      Warning(
        .truncated,
        "cut: the file ends after \(counted(starts.count, "complete frame")), at \(end.inSeconds); "
          + "the header says that more should follow, but not how many",
        span: TimeSpan(start: end, end: end))
    case .broken(let offset, let missing):
      Warning(
        .damaged,
        "damaged: the file can't be read at byte \(offset), so at least \(missing) of "
          + "\(starts.count + missing) frames are missing, from \(end.inSeconds) on",
        count: missing, span: TimeSpan(start: end, end: end))
    }
  }

  private func damage(_ frames: APNGFrames) -> [Warning] {
    let missing = frames.promised - starts.count
    guard missing > 0 || frames.isCut else { return [] }
    return [
      Warning(
        frames.isCut ? .truncated : .damaged,
        "\(frames.isCut ? "cut" : "damaged"): only \(starts.count) of \(frames.promised) frames are complete; "
          + "they end at \(end.inSeconds)",
        count: max(missing, 0), span: TimeSpan(start: end, end: end))
    ]
  }

  private func read(_ animation: APNGFrames, _ add: (UnsafeRawBufferPointer, Int) throws -> Void) throws {
    let decoder = try Pipeline(
      "appsrc name=in format=time block=true max-buffers=1 caps=image/png ! pngdec ! videoconvert ! video/x-raw,format=RGBA ! "
        + "appsink name=out sync=false max-buffers=1")
    defer { decoder.set(.null) }
    let (input, output) = (try decoder.appSource("in"), try decoder.appSink("out"))
    decoder.set(.playing)
    var canvas = [UInt8](repeating: 0, count: animation.width * animation.height * 4)
    for (number, frame) in animation.frames.enumerated() {
      let png = try Buffer(size: frame.png.count) { $0.copyBytes(from: frame.png) }
      png.stamp(pts: starts[number], duration: ClockTime(nanoseconds: 1))
      guard input.push(png), let sample = output.pull(timeout: ClockTime(seconds: 10)) else {
        if case .failed(let error)? = decoder.nextMessage() { throw error }
        throw ImageError(message: "too damaged to read")
      }
      let pixels = try sample.buffer.withBytes { Array($0) }
      guard pixels.count >= frame.width * frame.height * 4 else { throw ImageError(message: "too damaged to read") }
      // Disposal 2 restores the canvas as it was before this frame.
      let before = frame.disposal == 2 ? canvas : []
      APNGFrames.draw(pixels, of: frame, on: &canvas, width: animation.width)
      try canvas.withUnsafeBytes { try add($0, number) }
      switch frame.disposal {
      case 1: APNGFrames.clear(frame, on: &canvas, width: animation.width)
      case 2: canvas = before
      default: break
      }
    }
  }
}
