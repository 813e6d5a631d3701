import Drawing
import GStreamer
import RetrogradeEngine

/// Conversion of a source's frames to an output's frames: crop, rotation and size.
struct FrameGeometry: Sendable {
  private let source: ShownFrame
  private let crop: CroppedFrame?
  /// Rotation and flip of the pixels.
  private let turn: FrameOrientation
  /// Stored size after scaling; nil if frames are not scaled.
  let size: (width: Int, height: Int)?
  /// Stored size of the scaled frame within `size`, without bars.
  private let picture: (width: Int, height: Int)?
  /// GST_TAG_IMAGE_ORIENTATION of the output; nil if the output stores upright pixels.
  let orientation: String?
  /// True if interlaced frames are made progressive before the conversion.
  let deinterlaces: Bool
  /// Factor from 0 to 1. At the source's bit rate times this factor, the cropped and scaled frames
  /// have the same visual quality.
  let rateShare: Double
  /// Caps of the output frames, except for their pixel format.
  let caps: Caps
  /// Transform from points of the displayed output to stored source pixels, and the display size of
  /// the output; bars are not included.
  let drawing: (matrix: Transform, size: Size)
  /// Display size of the output.
  let shown: Size

  /// - Parameters:
  ///   - raw: caps of the source's frames.
  ///   - orientation: GST_TAG_IMAGE_ORIENTATION of the source.
  /// - Throws: ``RetrogradeError`` of code `usage` if the framing is impossible for frames of this
  ///   size.
  init(_ raw: Caps, orientation: String?, _ framing: Framing, for container: Container) throws {
    let frame = ShownFrame(raw, orientation: orientation)
    let isFilm = container.imageFormat == nil
    source = frame
    crop = try framing.crop.map { try CroppedFrame(frame, $0, chroma: raw.chromaSteps, isFilm: isFilm) }
    let (own, whole) = (FrameOrientation(framing), frame.size)
    let left = crop?.shown.size ?? whole
    deinterlaces = framing.needsWholeFrames && raw.isInterlaced
    // If a rotation was requested, rotate the pixels, because players may ignore orientation tags.
    let turnsPixels = own != .none || !container.carriesOrientation
    turn = turnsPixels ? frame.turn.then(own) : .none
    self.orientation = turnsPixels ? nil : orientation
    let stored = Size(width: Double(crop?.x.count ?? frame.width), height: Double(crop?.y.count ?? frame.height))
    let lying = turn.turned(stored)
    let isTurnedLater = !turnsPixels && frame.turn.isSideways
    let upright = own.turned(left)
    let scaled = try FrameGeometry.scaled(upright, framing.scale, isFilm: isFilm, isSquare: frame.aspect == 1)
    func swapped(_ size: (width: Int, height: Int)) -> (width: Int, height: Int) {
      isTurnedLater ? (size.height, size.width) : size
    }
    size = scaled.map { swapped($0.size) }
    picture = scaled.map { swapped($0.picture) }
    var caps = raw
    if crop != nil || turn.isSideways || size != nil {
      caps = caps.setting("width", "\(size?.width ?? Int(lying.width))")
        .setting("height", "\(size?.height ?? Int(lying.height))")
    }
    if size != nil {
      caps = caps.setting("pixel-aspect-ratio", "(fraction)1/1")
    } else if turn.isSideways, let pixel = raw.fraction("pixel-aspect-ratio") {
      caps = caps.setting("pixel-aspect-ratio", "(fraction)\(pixel.denominator)/\(pixel.numerator)")
    }
    if deinterlaces { caps = caps.removing(["field-order"]).setting("interlace-mode", "progressive") }
    self.caps = caps
    let canvas = scaled.map { Size(width: Double($0.picture.width), height: Double($0.picture.height)) } ?? upright
    shown = scaled.map { Size(width: Double($0.size.width), height: Double($0.size.height)) } ?? upright
    rateShare = (left.area / max(whole.area, 1)) * FrameGeometry.rateShare(ofScaling: canvas.area / max(left.area, 1))
    let corner = crop?.shown.origin ?? Point(x: 0, y: 0)
    let matrix = Transform.scale(x: upright.width / canvas.width, y: upright.height / canvas.height)
      .then(own.source(of: left)).then(.move(x: corner.x, y: corner.y)).then(frame.stored)
    drawing = (matrix, canvas)
  }

  /// Returns the scaled size with and without bars; nil if frames are not scaled.
  private static func scaled(_ shown: Size, _ scale: Framing.Scale?, isFilm: Bool, isSquare: Bool) throws -> (
    size: (width: Int, height: Int), picture: (width: Int, height: Int)
  )? {
    // Images are written without a pixel aspect ratio, so their pixels must be square.
    guard scale != nil || !isFilm && !isSquare, shown.width > 0, shown.height > 0 else { return nil }
    // Video sizes must be even, because most video has chroma for only half of the lines and
    // columns.
    let step = isFilm ? 2 : 1
    func whole(_ value: Double) -> Int { max(Int((min(value, 1e6) / Double(step)).rounded()) * step, step) }
    func within(_ width: Int, _ height: Int, most: Double) throws -> (Int, Int) {
      try check(width, height)
      let factor = min(Double(width) / shown.width, Double(height) / shown.height, most)
      let limit = (width / step * step, height / step * step)
      return (min(whole(shown.width * factor), limit.0), min(whole(shown.height * factor), limit.1))
    }
    let size: (width: Int, height: Int)
    var picture: (width: Int, height: Int)?
    switch scale {
    case .width(let width):
      try check(width, 1)
      size = (whole(Double(width)), whole(Double(width) * shown.height / shown.width))
    case .height(let height):
      try check(1, height)
      size = (whole(Double(height) * shown.width / shown.height), whole(Double(height)))
    case .fit(let width, let height): size = try within(width, height, most: .infinity)
    case .limit(let width, let height):
      // A frame that fits is not scaled.
      if isSquare, shown.width <= Double(width), shown.height <= Double(height) { return nil }
      size = try within(width, height, most: 1)
    case .pad(let width, let height):
      picture = try within(width, height, most: .infinity)
      size = (width / step * step, height / step * step)
    case nil: size = (whole(shown.width), whole(shown.height))
    }
    try check(size.width, size.height)
    return (size, picture ?? size)
  }

  /// Share of the bit rate for a scaled frame. Smaller frames have more detail per pixel, so the
  /// bit rate is in proportion to the number of pixels to the power of 3/4, the usual rule for bit
  /// rate ladders. An enlarged frame shows no more detail than before.
  private static func rateShare(ofScaling pixels: Double) -> Double {
    let root = min(pixels, 1).squareRoot()
    return root * root.squareRoot()
  }

  private static func check(_ width: Int, _ height: Int) throws {
    guard (1...16_384).contains(width), (1...16_384).contains(height) else {
      throw RetrogradeError(.usage, "a frame of \(width)x\(height) can't be created")
    }
  }
}

extension FrameGeometry {
  /// Elements that crop and rotate frames, in `gst-launch-1.0` syntax.
  var cutting: [String] {
    var parts: [String] = []
    if let crop {
      // Convert frames first: `videocrop` passes many formats through without cropping
      // (`Quirk.videocropFormats`).
      parts += [
        "videoconvert n-threads=2 dither=none", "video/x-raw,format={\(FrameGeometry.cuttable)}",
        "videocrop left=\(crop.x.lowerBound) right=\(source.width - crop.x.upperBound) top=\(crop.y.lowerBound) "
          + "bottom=\(source.height - crop.y.upperBound)",
      ]
    }
    if let direction = turn.direction {
      parts += ["videoconvert n-threads=2 dither=none", "videoflip video-direction=\(direction)"]
    }
    return parts
  }

  /// Elements that scale frames to ``size``.
  var scaling: [String] {
    guard let size, let picture else { return [] }
    let caps = "video/x-raw,width=\(size.width),height=\(size.height),pixel-aspect-ratio=1/1"
    // Allow borders only for padding: otherwise `videoscale` would also add bars to compensate for
    // rounded sizes.
    return ["videoscale method=lanczos n-threads=2 add-borders=\(picture != size)", caps]
  }

  /// Elements that make interlaced frames progressive.
  static let deinterlacing = [
    // `auto-strict` refuses formats that `deinterlace` can't process; other modes pass frames in
    // such formats through. `linear` keeps timestamps; methods that use more fields lose some. With
    // only the top field, the output does not depend on the field order. Without `tff`, a frame
    // whose top field is second would wait for the next frame.
    "videoconvert n-threads=2 dither=none", "deinterlace mode=auto-strict method=linear fields=top tff=tff",
  ]

  /// Elements for all changes of a frame, in order.
  var elements: [String] { cutting + scaling }

  private static let cuttable = [
    "I420", "YV12", "NV12", "NV21", "A420", "Y42B", "Y444", "YUY2", "UYVY", "YVYU", "Y41B", "AYUV", "I420_10LE",
    "I422_10LE", "Y444_10LE", "A420_10LE", "A422_10LE", "A444_10LE", "I420_12LE", "I422_12LE", "Y444_12LE", "RGB",
    "BGR", "RGBx", "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR", "GRAY8", "GRAY16_LE", "GBR", "GBRA",
    "GBR_10LE", "GBR_12LE", "GBRA_10LE", "GBRA_12LE",
  ].joined(separator: ",")
}

extension Size {
  fileprivate var area: Double { width * height }
}

extension Framing {
  /// True if the framing needs progressive frames, since crop, rotation, flip and padding can't be
  /// applied to each field separately.
  fileprivate var needsWholeFrames: Bool {
    if crop != nil || rotation != nil || flip != nil { return true }
    if case .pad = scale { return true }
    return false
  }
}
