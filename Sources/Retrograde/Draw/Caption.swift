import Drawing

/// Text that is drawn over frames.
struct Caption: Sendable {
  let text: String
  let style: CaptionStyle
  /// True if the timecode is shown too, so the caption must start below the timecode.
  let isBelowTimecode: Bool

  /// Smallest legible font size, in pixels.
  private static let smallest = 4.0

  /// Draws the caption over one frame.
  @Sendable func draw(_ context: DrawingContext, _ frame: OverlayFrame) {
    guard style.isShown(at: frame.time) else { return }
    let (text, size, room) = fitted(context)
    let taken = context.size(of: text, width: room.size.width)
    let y =
      switch style.place {
      case .topLeft, .top, .topRight: room.origin.y
      case .left, .middle, .right: max(room.origin.y, (context.size.height - taken.height) / 2)
      case .bottomLeft, .bottom, .bottomRight: room.origin.y + room.size.height - taken.height
      }
    let place = Rectangle(x: room.origin.x, y: y, width: room.size.width, height: taken.height)
    if let box = style.box {
      let free = room.size.width - taken.width
      let x = room.origin.x + [.left: 0, .center: free / 2, .right: free][alignment, default: 0]
      let edge = size / 3
      context.fill(
        Path(
          Rectangle(x: x - edge, y: y - edge / 2, width: taken.width + 2 * edge, height: taken.height + edge),
          radius: size / 6), with: .color(box))
    }
    context.draw(text, in: place)
  }

  /// Lays out the text in the requested font size, or in a smaller size that fits. Returns the
  /// text, the size and the available area.
  private func fitted(_ context: DrawingContext) -> (Text, size: Double, room: Rectangle) {
    var size = style.size ?? min(context.size.width, context.size.height) / 14
    while true {
      let text = Text(
        text, font: "\(style.font) \(max(Int(size.rounded()), 1))", color: style.color, alignment: alignment,
        outline: style.outline.map { ($0, size / 12) })
      let room = room(in: context, size)
      if size <= Caption.smallest || context.size(of: text, width: room.size.width).height <= room.size.height {
        return (text, size, room)
      }
      size = max(size * 0.9, Caption.smallest)
    }
  }

  /// - Parameter size: font size.
  private func room(in context: DrawingContext, _ size: Double) -> Rectangle {
    let (width, height) = (context.size.width, context.size.height)
    let side = min(size, width / 8)
    let top = max(size / 2, isBelowTimecode ? Overlays.timecodeEnd(context) + size / 4 : 0)
    return Rectangle(x: side, y: top, width: width - 2 * side, height: max(height - size / 2 - top, 1))
  }

  private var alignment: Text.Alignment {
    switch style.place {
    case .topLeft, .left, .bottomLeft: .left
    case .top, .middle, .bottom: .center
    case .topRight, .right, .bottomRight: .right
    }
  }
}
