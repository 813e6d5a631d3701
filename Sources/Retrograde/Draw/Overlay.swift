public import Drawing
import GStreamer
public import MediaTime
public import RetrogradeEngine

/// Frame that an ``Overlay`` is drawn over.
public struct OverlayFrame: Sendable {
  /// Time from the start of the output.
  public var time: ClockTime
  /// Time in the source.
  public var sourceTime: ClockTime
  /// Direction in which the source is played at this frame.
  public var direction: Direction
  /// Number of the frame in the output, starting at 0.
  public var number: Int

  /// Creates a frame description without a video, for example to test a drawing.
  public init(time: ClockTime, sourceTime: ClockTime, direction: Direction, number: Int) {
    self.time = time
    self.sourceTime = sourceTime
    self.direction = direction
    self.number = number
  }
}

/// Function that draws over a frame. The drawing is upright even if the video is stored rotated.
/// Called for one frame at a time, on a thread of the engine.
public typealias Overlay = @Sendable (DrawingContext, OverlayFrame) throws -> Void

/// Title that is shown before the first frame of the video, drawn over black and without audio.
public struct Title: Sendable {
  public var duration: ClockTime
  /// Draws a frame of the title. Gets the time since the title's start.
  public var draw: @Sendable (DrawingContext, ClockTime) throws -> Void

  public init(duration: ClockTime, draw: @escaping @Sendable (DrawingContext, ClockTime) throws -> Void) {
    self.duration = duration
    self.draw = draw
  }
}

/// Ready-made overlays, which the `retrograde` command offers too.
public enum Overlays {
  /// Creates a caption in the middle of the lower edge, unless `style` has another place.
  public static func caption(_ text: String, style: CaptionStyle = CaptionStyle()) -> Overlay {
    Caption(text: text, style: style, isBelowTimecode: false).draw
  }

  /// Source time, and an arrow in the direction of play, in the upper left corner.
  public static let timecode: Overlay = { context, frame in
    let size = timecodeSize(context)
    context.draw(
      timecodeText(context, frame),
      in: Rectangle(x: size / 2, y: size / 2, width: context.size.width, height: size * 2))
  }

  private static func timecodeSize(_ context: DrawingContext) -> Double {
    // The limit by width makes the 14 characters of a timecode fit into narrow frames.
    min(context.size.height / 18, context.size.width / 9.5)
  }

  private static func timecodeText(_ context: DrawingContext, _ frame: OverlayFrame) -> Text {
    let size = timecodeSize(context)
    let arrow = frame.direction == .forward ? "▶" : "◀"
    return Text(
      "\(arrow) \(frame.sourceTime)", font: "Monospace Bold \(Int(size.rounded()))",
      outline: (.black.opacity(0.8), size / 12))
  }

  /// Returns the lower edge of the timecode, in pixels.
  static func timecodeEnd(_ context: DrawingContext) -> Double {
    let moment = OverlayFrame(time: .zero, sourceTime: .zero, direction: .forward, number: 0)
    let size = timecodeSize(context)
    return size * 7 / 12 + context.size(of: timecodeText(context, moment), width: .infinity).height
  }

  /// Combines overlays: later overlays are drawn over earlier overlays. nil for an empty list.
  public static func all(_ overlays: [Overlay]) -> Overlay? {
    guard !overlays.isEmpty else { return nil }
    return { context, frame in
      for overlay in overlays { try context.saved { try overlay(context, frame) } }
    }
  }
}

/// Painter for raw frames of one format.
struct FramePainter: Sendable {
  let caps: Caps
  private let width: Int
  private let height: Int
  private let transform: (matrix: Transform, size: Size)

  /// - Parameter transform: transform from positions in the displayed frame to stored pixels, and
  ///   size of the displayed frame.
  init(_ caps: Caps, _ transform: (matrix: Transform, size: Size)) {
    self.caps = caps
    self.transform = transform
    width = caps.int("width") ?? 0
    height = caps.int("height") ?? 0
  }

  /// Draws over a copy, since `frame` may be shared. Returns `frame` itself if nothing was drawn.
  func paint(_ frame: Buffer, _ draw: (DrawingContext) throws -> Void) throws -> Buffer {
    let overlay = try Buffer.frame(width: width, height: height)
    var rows = 0..<0
    try overlay.withMutableBytes { pixels in
      try DrawingContext.draw(
        on: pixels, width: width, height: height, hasAlpha: true, transform: transform, draw)
      rows = FramePainter.rows(UnsafeRawBufferPointer(pixels), width: width, height: height)
    }
    return try frame.blending(overlay, rows: rows, caps: caps)
  }

  /// Draws over a black frame.
  func blank(_ draw: (DrawingContext) throws -> Void) throws -> Buffer {
    guard let size = caps.frameSize else {
      throw RetrogradeError(.internalFailure, "the caps of a new frame have no size: \(caps)")
    }
    let frame = try Buffer(size: size) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
    return try paint(frame) { context in
      context.fill(.black)
      try draw(context)
    }
  }

  /// Returns the smallest range of rows that contains every drawn pixel.
  private static func rows(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int) -> Range<Int> {
    func isEmpty(_ row: Int) -> Bool {
      let words = UnsafeRawBufferPointer(rebasing: pixels[row * width * 4..<(row + 1) * width * 4])
        .bindMemory(to: UInt32.self)
      var seen: UInt32 = 0
      for word in words { seen |= word }
      return seen == 0
    }
    guard let first = (0..<height).first(where: { !isEmpty($0) }),
      let last = (first..<height).last(where: { !isEmpty($0) })
    else { return 0..<0 }
    return first..<last + 1
  }
}
