import Drawing
import GStreamer
import RetrogradeEngine

/// Area of a frame that remains after a crop.
struct CroppedFrame: Sendable {
  /// Columns and lines of the area in the stored frame.
  let x: Range<Int>
  let y: Range<Int>
  /// Upper left corner and size of the area in the displayed frame, in square pixels.
  let shown: Rectangle

  /// - Parameters:
  ///   - chroma: number of columns and lines that share a chroma sample.
  ///   - isFilm: true if the size has to be even, as in most video; false for images.
  /// - Throws: ``RetrogradeError`` of code `usage` if the rectangle exceeds the frame.
  init(_ frame: ShownFrame, _ crop: Framing.Crop, chroma: (x: Int, y: Int), isFilm: Bool) throws {
    let whole = frame.size
    let (wanted, place) = try CroppedFrame.wanted(crop, of: whole)
    // `x` and `y` here are in stored pixels, but run along the width and height of the displayed
    // frame.
    let isSideways = frame.turn.isSideways
    let pixel = isSideways ? Size(width: 1, height: frame.aspect) : Size(width: frame.aspect, height: 1)
    let x = try CroppedFrame.span(
      place.map { Double($0.x) / pixel.width }, wanted.width / pixel.width, of: isSideways ? frame.height : frame.width,
      step: isSideways ? chroma.y : chroma.x, isFilm: isFilm)
    let y = try CroppedFrame.span(
      place.map { Double($0.y) / pixel.height }, wanted.height / pixel.height,
      of: isSideways ? frame.width : frame.height, step: isSideways ? chroma.x : chroma.y, isFilm: isFilm)
    let upright = Rectangle(
      x: Double(x.lowerBound), y: Double(y.lowerBound), width: Double(x.count), height: Double(y.count))
    let size = Size(width: Double(frame.width), height: Double(frame.height))
    let stored = frame.turn.source(of: size)
    let corners = [
      stored(upright.origin),
      stored(Point(x: Double(x.upperBound), y: Double(y.upperBound))),
    ]
    self.x = CroppedFrame.aligned(corners.map(\.x), step: chroma.x)
    self.y = CroppedFrame.aligned(corners.map(\.y), step: chroma.y)
    shown = Rectangle(
      x: upright.origin.x * pixel.width, y: upright.origin.y * pixel.height, width: upright.size.width * pixel.width,
      height: upright.size.height * pixel.height)
  }

  private static func wanted(_ crop: Framing.Crop, of whole: Size) throws -> (Size, Framing.Place?) {
    let size: Size
    let place: Framing.Place?
    switch crop {
    case .shape(let width, let height, let at):
      guard width > 0, height > 0, width.isFinite, height.isFinite else {
        throw RetrogradeError(.usage, "\(setting: .crop) \(width):\(height): both sides must be above 0")
      }
      let scale = min(whole.width / width, whole.height / height)
      (size, place) = (Size(width: width * scale, height: height * scale), at)
    case .area(let width, let height, let at):
      (size, place) = (Size(width: Double(width), height: Double(height)), at)
    }
    // With non-square pixels, the display size is seldom a whole number, so accept a rectangle that
    // exceeds the frame by less than a pixel.
    let (left, top) = (Double(place?.x ?? 0), Double(place?.y ?? 0))
    guard left >= 0, top >= 0, left + size.width < whole.width + 1, top + size.height < whole.height + 1 else {
      func text(_ size: Size) -> String { "\(Int(size.width.rounded()))x\(Int(size.height.rounded()))" }
      let corner = place.map { " at \($0.x),\($0.y)" } ?? ""
      throw RetrogradeError(
        .usage,
        "\(setting: .crop): the area \(text(size))\(corner) is not within the frame, which has \(text(whole)) pixels")
    }
    return (size, place)
  }

  /// Returns the range of pixels along one side of the frame.
  /// - Parameters:
  ///   - place: start of the range in pixels; nil: centred.
  ///   - step: number of pixels that share a chroma sample.
  private static func span(
    _ place: Double?, _ length: Double, of whole: Int, step: Int, isFilm: Bool
  ) throws -> Range<Int> {
    func down(_ value: Int, to step: Int) -> Int { value / step * step }
    let step = isFilm ? max(step, 2) : step
    // 1e-6 absorbs rounding errors just below a whole number.
    let count = down(min(Int(length + 1e-6), whole), to: isFilm ? 2 : 1)
    guard count > 0 else {
      throw RetrogradeError(.usage, "\(setting: .crop): nothing of the frame would be left")
    }
    let start = place.map { Int($0 + 1e-6) } ?? (whole - count) / 2
    let first = down(min(start, whole - count), to: step)
    return first..<first + count
  }

  /// Returns the range between two positions, starting at a pixel with its own chroma sample.
  private static func aligned(_ places: [Double], step: Int) -> Range<Int> {
    let ends = places.map { Int($0.rounded()) }.sorted()
    let start = ends[0] / step * step
    return start..<start + ends[1] - ends[0]
  }
}
