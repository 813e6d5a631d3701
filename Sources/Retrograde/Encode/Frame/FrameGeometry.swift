import Drawing
import GStreamer
import RetrogradeEngine

/// Change of a source's frames into those of an output: the crop, the turn, and the size.
struct FrameGeometry: Sendable {
  private let source: ShownFrame
  private let crop: CroppedFrame?
  /// How the pixels are turned.
  private let turn: Turn
  /// The size that they are brought to, as they are stored; nil where that is their own.
  let size: (width: Int, height: Int)?
  /// Size of the picture in that, as it is stored; the rest are bars.
  private let picture: (width: Int, height: Int)?
  /// How the output has to be turned to be shown: GST_TAG_IMAGE_ORIENTATION; nil where its pixels lie upright.
  let orientation: String?
  /// Whether interlaced frames are made whole ones first.
  let deinterlaces: Bool
  /// Share of the source's bit rate for the same look, from 0 to 1.
  let rateShare: Double
  /// The frames as they come out, but for their pixel format.
  let caps: Caps
  /// The way from places in the picture as it is shown in the end to pixels of the source, and the size of that picture: without bars.
  let drawing: (matrix: Transform, size: Size)
  /// The size in which the output is shown.
  let shown: Size

  /// - Parameters:
  ///   - raw: the frames of the source.
  ///   - orientation: how they have to be turned to be shown: GST_TAG_IMAGE_ORIENTATION.
  /// - Throws: ``RetrogradeError`` of code `usage` where that can't be done with frames of this size.
  init(_ raw: Caps, orientation: String?, _ framing: Framing, for container: Container) throws {
    let frame = ShownFrame(raw, orientation: orientation)
    let isFilm = container.imageFormat == nil
    source = frame
    crop = try framing.crop.map { try CroppedFrame(frame, $0, chroma: raw.chromaSteps, isFilm: isFilm) }
    let (own, whole) = (Turn(framing), frame.size)
    let left = crop?.shown.size ?? whole
    deinterlaces = framing.needsWholeFrames && raw.isInterlaced
    // A user who asks for another orientation wants it in players too that look at pixels alone.
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

  /// The size that a picture is brought to, and the part of it that is picture, not bars; nil where it stays
  /// as it is.
  private static func scaled(_ shown: Size, _ scale: Framing.Scale?, isFilm: Bool, isSquare: Bool) throws -> (
    size: (width: Int, height: Int), picture: (width: Int, height: Int)
  )? {
    // Nothing but pixels tells players of GIF, WebP or PNG how wide to show them.
    guard scale != nil || !isFilm && !isSquare, shown.width > 0, shown.height > 0 else { return nil }
    // In films half of the lines and columns have colour.
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
      // A picture that fits as it is stays as it is.
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

  /// Share of the bit rate for a picture that is scaled. The smaller a picture is made, the more there is to
  /// see in each of its pixels: the rate grows with their number to the power of 3/4, as makers of rate
  /// ladders have found. An enlarged picture shows no more than before.
  private static func rateShare(ofScaling pixels: Double) -> Double {
    let root = min(pixels, 1).squareRoot()
    return root * root.squareRoot()
  }

  private static func check(_ width: Int, _ height: Int) throws {
    guard (1...16_384).contains(width), (1...16_384).contains(height) else {
      throw RetrogradeError(.usage, "a frame of \(width)x\(height) can't be made")
    }
  }
}

extension FrameGeometry {
  /// Elements that cut and turn frames, in `gst-launch-1.0` syntax.
  var cutting: [String] {
    var parts: [String] = []
    if let crop {
      // Quirk.videocropFormats
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

  /// Elements that scale the frames to their size.
  var scaling: [String] {
    guard let size, let picture else { return [] }
    let caps = "video/x-raw,width=\(size.width),height=\(size.height),pixel-aspect-ratio=1/1"
    // Sizes are rounded: bars would make up for it.
    return ["videoscale method=lanczos n-threads=2 add-borders=\(picture != size)", caps]
  }

  /// Elements that make whole frames of interlaced ones.
  static let deinterlacing = [
    // Strictly: else it passes formats on that it can't work with. Its methods that look at more fields lose times. The order of a
    // frame's fields does not matter where one of them is kept; told of it, it would give a frame whose second field is the one
    // that is kept only when the next frame has come.
    "videoconvert n-threads=2 dither=none", "deinterlace mode=auto-strict method=linear fields=top tff=tff",
  ]

  /// Elements for all changes of a frame, one after the other.
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
  /// Whether it is not enough to do the same with each field of interlaced frames.
  fileprivate var needsWholeFrames: Bool {
    if crop != nil || rotation != nil || flip != nil { return true }
    if case .pad = scale { return true }
    return false
  }
}
