public import ArgumentParser
public import Retrograde

/// Options for the frame's shape.
struct FramingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Part of the frame to keep, as shown. 9:16: the largest part of that shape, centred; 9:16@100,0: the same, "
        + "from x 100, y 0. 640x640: that size, centred; 640x640+100+0: the same, from x 100, y 0. "
        + "Odd numbers are rounded down to even ones.", valueName: "part"))
  var crop: Framing.Crop?

  @Option(help: ArgumentHelp("Rotate clockwise, after --crop.", valueName: "degrees"))
  var rotate: Framing.Rotation?

  @Option(
    help: ArgumentHelp("Flip left to right, or top to bottom, after --rotate.", valueName: "direction"))
  var flip: Framing.Flip?

  @Option(
    help: ArgumentHelp(
      "Width as shown, 2 to 16384 pixels, after --crop, --rotate and --flip; the height follows.",
      valueName: "pixels"))
  var width: Int?

  @Option(help: ArgumentHelp("Height instead of the width, 2 to 16384 pixels; the width follows.", valueName: "pixels"))
  var height: Int?

  @Option(
    help: ArgumentHelp(
      "Scale up or down, so that the frame just fits into this size, such as 1080x1920.", valueName: "size"))
  var fit: PixelSize?

  @Flag(help: "With --fit: exactly that size, with black bars.")
  var pad = false

  func validate() throws {
    for (name, value) in [("--width", width), ("--height", height)] {
      if let value, !(2...16_384).contains(value) { throw ValidationError("\(name) must be 2 to 16384.") }
    }
    if [width != nil, height != nil, fit != nil].count(where: \.self) > 1 {
      throw ValidationError(
        "--width, --height and --fit exclude each other: --fit 640x360 sets both, and --crop 16:9 sets the shape."
      )
    }
    if pad && fit == nil { throw ValidationError("--pad needs --fit, which sets the size.") }
  }

  var framing: Framing {
    Framing(crop: crop, rotation: rotate, flip: flip, scale: scale)
  }

  private var scale: Framing.Scale? {
    if let width { return .width(width) }
    if let height { return .height(height) }
    return fit.map { pad ? .pad(width: $0.width, height: $0.height) : .fit(width: $0.width, height: $0.height) }
  }
}

extension Framing.Crop: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
}

extension Framing.Rotation: ExpressibleByArgument {
  public init?(argument: String) {
    guard let degrees = Int(argument) else { return nil }
    self.init(rawValue: degrees)
  }
}

extension Framing.Flip: ExpressibleByArgument {}
