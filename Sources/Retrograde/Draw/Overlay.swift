public import Drawing
import GStreamer
public import MediaTime
public import RetrogradeEngine

/// The frame that an ``Overlay`` is drawn over.
public struct OverlayFrame: Sendable {
  /// When it is shown in the output, from its start.
  public var time: ClockTime
  /// When it is shown in the source.
  public var sourceTime: ClockTime
  /// The direction in which the source is played there.
  public var direction: Direction
  /// Its number in the output, from 0.
  public var number: Int

  /// One that no file was played for, such as to try a drawing.
  public init(time: ClockTime, sourceTime: ClockTime, direction: Direction, number: Int) {
    self.time = time
    self.sourceTime = sourceTime
    self.direction = direction
    self.number = number
  }
}

/// Draws over frames, upright whichever way the video is stored; called for each frame in turn, on a thread of the engine.
public typealias Overlay = @Sendable (DrawingContext, OverlayFrame) throws -> Void

/// A drawing that is shown before the first frame, over black, in silence.
public struct Title: Sendable {
  public var duration: ClockTime
  /// Called for each frame with the time since the title's start.
  public var draw: @Sendable (DrawingContext, ClockTime) throws -> Void

  public init(duration: ClockTime, draw: @escaping @Sendable (DrawingContext, ClockTime) throws -> Void) {
    self.duration = duration
    self.draw = draw
  }
}

/// Overlays that the command has too.
public enum Overlays {
  /// Text, at the lower edge and in the middle unless `style` says otherwise.
  public static func caption(_ text: String, style: CaptionStyle = CaptionStyle()) -> Overlay {
    Caption(text: text, style: style, isBelowTimecode: false).draw
  }

  /// The time in the source, and an arrow in the direction of play, in the upper left corner.
  public static let timecode: Overlay = { context, frame in
    let size = timecodeSize(context)
    context.draw(
      timecodeText(context, frame),
      in: Rectangle(x: size / 2, y: size / 2, width: context.size.width, height: size * 2))
  }

  private static func timecodeSize(_ context: DrawingContext) -> Double {
    // So that its 14 letters have room in a narrow picture too.
    min(context.size.height / 18, context.size.width / 9.5)
  }

  private static func timecodeText(_ context: DrawingContext, _ frame: OverlayFrame) -> Text {
    let size = timecodeSize(context)
    let arrow = frame.direction == .forward ? "▶" : "◀"
    return Text(
      "\(arrow) \(frame.sourceTime)", font: "Monospace Bold \(Int(size.rounded()))",
      outline: (.black.opacity(0.8), size / 12))
  }

  /// The line below which nothing of the timecode stands.
  static func timecodeEnd(_ context: DrawingContext) -> Double {
    let moment = OverlayFrame(time: .zero, sourceTime: .zero, direction: .forward, number: 0)
    let size = timecodeSize(context)
    return size * 7 / 12 + context.size(of: timecodeText(context, moment), width: .infinity).height
  }

  /// One over the other, the first at the bottom.
  public static func all(_ overlays: [Overlay]) -> Overlay? {
    guard !overlays.isEmpty else { return nil }
    return { context, frame in
      for overlay in overlays { try context.saved { try overlay(context, frame) } }
    }
  }
}

/// Draws over raw frames of one form.
struct FramePainter: Sendable {
  let caps: Caps
  private let width: Int
  private let height: Int
  private let transform: (matrix: Transform, size: Size)

  /// - Parameter transform: the way from places in the picture as it is shown to pixels as they are stored, and the size as it is shown.
  init(_ caps: Caps, _ transform: (matrix: Transform, size: Size)) {
    self.caps = caps
    self.transform = transform
    width = caps.int("width") ?? 0
    height = caps.int("height") ?? 0
  }

  /// `frame` with the drawing of `draw` over it. Frames may be shared, so only a frame that is drawn over is
  /// copied.
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

  /// A frame of nothing but the drawing of `draw`, over black.
  func blank(_ draw: (DrawingContext) throws -> Void) throws -> Buffer {
    guard let size = caps.frameSize else {
      throw RetrogradeError(.internalFailure, "no frame can be made of \(caps)")
    }
    let frame = try Buffer(size: size) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
    return try paint(frame) { context in
      context.fill(.black)
      try draw(context)
    }
  }

  /// The rows between which anything was drawn.
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
