public import ArgumentParser
public import Retrograde

/// Options of the picture's shape.
struct FramingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The part of the picture to keep, as shown: 9:16 is the largest of that shape, in the middle, 9:16@100,0 the one that begins at "
        + "x 100, y 0; 640x640 or 640x640+100+0 is one of that size. Odd numbers become even ones, the lower.",
      valueName: "part"))
  var crop: Framing.Crop?

  @Option(help: ArgumentHelp("Turn the picture clockwise, after --crop: by 90, 180 or 270.", valueName: "degrees"))
  var rotate: Framing.Rotation?

  @Option(
    help: ArgumentHelp("Change left and right, or top and bottom, after --rotate.", valueName: "horizontal|vertical"))
  var flip: Framing.Flip?

  @Option(
    help: ArgumentHelp(
      "The width of the video, as shown, in pixels, after all of these; the height follows.", valueName: "pixels"))
  var width: Int?

  @Option(help: ArgumentHelp("The height, in place of the width.", valueName: "pixels"))
  var height: Int?

  @Option(
    help: ArgumentHelp(
      "Scale the picture, up or down, so that it just lies within this size, such as 1080x1920.", valueName: "size"))
  var fit: PixelSize?

  @Flag(help: "With --fit: make it exactly of that size, with black bars.")
  var pad = false

  func validate() throws {
    for (name, value) in [("--width", width), ("--height", height)] {
      if let value, !(2...16_384).contains(value) { throw ValidationError("\(name) must be 2 to 16384.") }
    }
    if [width != nil, height != nil, fit != nil].count(where: \.self) > 1 {
      throw ValidationError(
        "--width, --height and --fit exclude each other: --fit 640x360 says both, and --crop 16:9 what shape it is to have."
      )
    }
    if pad && fit == nil { throw ValidationError("--pad needs --fit, which says how large it is to be.") }
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
