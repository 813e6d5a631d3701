public import ArgumentParser
public import Retrograde

/// Options for the shape of the frame.
struct FramingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Part of the displayed frame to keep. 9:16: the largest part with that aspect ratio, centred; 9:16@100,0: the "
        + "same, but with its top left corner at x 100, y 0. 640x640: a part of that size, centred; 640x640+100+0: "
        + "the same, but at x 100, y 0. Odd numbers are rounded down to even ones.", valueName: "part"))
  var crop: Framing.Crop?

  @Option(help: ArgumentHelp("Rotate clockwise, after --crop.", valueName: "degrees"))
  var rotate: Framing.Rotation?

  @Option(
    help: ArgumentHelp(
      "Flip the frame, after --rotate. horizontal: swap left and right; vertical: swap top and bottom.",
      valueName: "direction"))
  var flip: Framing.Flip?

  @Option(
    help: ArgumentHelp(
      "Scale to this width, 2 to 16384 pixels, and keep the aspect ratio. Applied after --crop, --rotate and --flip.",
      valueName: "pixels"))
  var width: Int?

  @Option(
    help: ArgumentHelp(
      "Scale to this height instead, 2 to 16384 pixels, and keep the aspect ratio.", valueName: "pixels"))
  var height: Int?

  @Option(
    help: ArgumentHelp(
      "Scale to the largest size that fits into this one, such as 1080x1920, and keep the aspect ratio.",
      valueName: "size"))
  var fit: PixelSize?

  @Flag(help: "With --fit: add black bars, so that the frame has exactly that size.")
  var pad = false

  func validate() throws {
    for (name, value) in [("--width", width), ("--height", height)] {
      if let value, !(2...16_384).contains(value) { throw ValidationError("\(name) must be 2 to 16384.") }
    }
    if [width != nil, height != nil, fit != nil].count(where: \.self) > 1 {
      throw ValidationError(
        "Only one of --width, --height and --fit can be used. --fit limits both sides; --crop sets the aspect ratio."
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
