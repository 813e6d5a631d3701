import Drawing
import GStreamer
import MediaTime
import RetrogradeEngine

/// Image of the frames before and after a loop's seam, side by side, written as PNG.
struct SeamPicture {
  let input: String
  let found: FoundLoop
  let options: ReverseOptions

  private static let height = 360
  private static let margin = 12.0
  private static let text = 22.0

  func write(to path: String, _ work: Work) throws {
    try Outputs.write(overwrites: options.output.overwrites, inputs: [input]) { outputs in
      try outputs.begin(path, isNumbered: false)
      do {
        try draw(try frames(work), to: outputs.location(of: path), work.cancellation)
      } catch let error as GStreamerError {
        throw RetrogradeError.writing(path, error)
      }
    }
  }

  /// Checks that `path` has the extension `.png`, and can be created.
  /// - Throws: ``RetrogradeError`` of code `usage` if the extension differs; of code
  ///   `cannotCreateOutput` if the file can't be created.
  static func check(_ path: String, overwrites: Bool, input: String) throws {
    guard path.lowercased().hasSuffix(".png") else {
      throw RetrogradeError(
        .usage, about: path, "the picture of the seam can be written only as PNG", remedy: "use a name such as seam.png"
      )
    }
    let outputs = Outputs(overwrites: overwrites, inputs: [input])
    defer { outputs.clear() }
    try outputs.begin(path, isNumbered: false)
  }

  /// Returns the frames at the two ends of the loop: the last frame in the order of play, then the
  /// first frame. For a loop that goes back and forth: the frames at the end and the start of the
  /// range.
  private func frames(_ work: Work) throws -> [Image] {
    var playback = PlaybackOptions(loop: .forward, streams: options.playback.streams, noAudio: true)
    (playback.start, playback.end) = (.time(found.span.start), .time(found.span.end))
    let source = try PlayableSource.open(
      [input], ReverseOptions(playback: playback, resources: options.resources), work)
    guard let video = source.video else { return [] }
    let order: [Loop] = found.loop == .reverse ? [.forward, .reverse] : [.reverse, .forward]
    return try order.compactMap { loop in
      let legs = PlaybackLegs(loop, count: 1, source.legs.presentation, timeline: video.shown.timeline)
      guard let frame = try VideoPlayer(video, legs, timing: .mirror, work.cancellation).next() else { return nil }
      let form = "video/x-raw,format=BGRA,pixel-aspect-ratio=1/1,height=\(SeamPicture.height)"
      let converter = try FrameConverter(
        frame.caps, orientation: video.video.tags?.string("image-orientation"), to: form, work.cancellation)
      let pixels = try converter.convert(frame.buffer, frame.caps).withBytes(Array.init)
      return try Image(width: pixels.count / 4 / SeamPicture.height, height: SeamPicture.height, pixels: pixels)
    }
  }

  private func draw(_ images: [Image], to path: String, _ cancellation: Cancellation) throws {
    let labels = found.loop.turns ? ["one end", "the other end"] : ["last", "first"]
    let (margin, text) = (SeamPicture.margin, SeamPicture.text)
    let width = Int(images.reduce(margin) { $0 + $1.size.width + margin })
    let height = SeamPicture.height + Int(3 * margin + text)
    let canvas = try Buffer.frame(width: width, height: height)
    try canvas.withMutableBytes { pixels in
      try DrawingContext.draw(on: pixels, width: width, height: height, hasAlpha: false) { context in
        context.fill(.black)
        var x = margin
        for (image, label) in zip(images, labels) {
          context.draw(
            Text(label, font: "Sans \(Int(text))"),
            in: Rectangle(x: x, y: margin / 2, width: image.size.width, height: text))
          context.draw(
            image, in: Rectangle(x: x, y: 2 * margin + text, width: image.size.width, height: image.size.height))
          x += image.size.width + margin
        }
      }
    }
    try SeamPicture.save(canvas, width: width, height: height, to: path, cancellation)
  }

  private static func save(
    _ frame: Buffer, width: Int, height: Int, to path: String, _ cancellation: Cancellation
  ) throws {
    let pipeline = try Pipeline(
      "appsrc name=in format=time ! videoconvert ! pngenc ! filesink location=\(Description.quoted(path))")
    defer { pipeline.set(.null) }
    let source = try pipeline.appSource("in")
    if let caps = Caps("video/x-raw,format=BGRx,width=\(width),height=\(height),framerate=(fraction)0/1") {
      source.setCaps(caps)
    }
    pipeline.set(.playing)
    frame.stamp(pts: .zero, duration: .zero)
    _ = source.push(frame)
    source.endOfStream()
    while true {
      try cancellation.check()
      switch pipeline.nextMessage(timeout: ClockTime(nanoseconds: 100_000_000)) {
      case .endOfStream: return
      case .failed(let error): throw error
      default: break
      }
    }
  }
}
