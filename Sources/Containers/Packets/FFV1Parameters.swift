/// Parameters of FFV1 (RFC 9043, 4.2).
struct FFV1Parameters: Sendable {
  let version: Int
  /// State transitions of the range coder in slices.
  let states: FFV1RangeDecoder.States
  let isRGB: Bool
  /// Bits per component.
  let depth: Int
  let hasChroma: Bool
  /// Binary logarithms of the horizontal and vertical subsampling of chroma.
  let chromaShifts: (x: Int, y: Int)
  let hasAlpha: Bool

  /// Reads the parameters in a Configuration Record (4.3); nil without a record, or if the version
  /// is neither 3 nor 4.
  init?(configuration: [UInt8]?) {
    guard let configuration else { return nil }
    let found = configuration.withUnsafeBytes { bytes in
      var decoder = FFV1RangeDecoder(bytes)
      return FFV1Parameters(&decoder)
    }
    guard let found, found.version >= 3 else { return nil }
    self = found
  }

  /// Reads the parameters at the start of keyframes of versions 0 and 1; nil if `packet` is not a
  /// keyframe of these versions.
  init?(keyframe packet: UnsafeRawBufferPointer) {
    guard packet.count >= 2 else { return nil }
    var decoder = FFV1RangeDecoder(packet)
    var state: UInt8 = 128
    guard decoder.bit(&state, .usual), let found = FFV1Parameters(&decoder), found.version < 2 else { return nil }
    self = found
  }

  private init?(_ decoder: inout FFV1RangeDecoder) {
    var contexts = FFV1RangeDecoder.contexts
    var states = FFV1RangeDecoder.States.usual
    version = decoder.number(&contexts, .usual)
    // Other versions are unknown; version 2 was never released.
    guard [0, 1, 3, 4].contains(version) else { return nil }
    if version >= 3 { _ = decoder.number(&contexts, .usual) }  // micro_version
    if decoder.number(&contexts, .usual) > 1 {
      for state in 1..<256 { states.change(state, by: decoder.number(&contexts, .usual, isSigned: true)) }
    }
    self.states = states
    isRGB = decoder.number(&contexts, .usual) == 1
    let depth = version > 0 ? decoder.number(&contexts, .usual) : 8
    self.depth = depth == 0 ? 8 : depth
    hasChroma = decoder.bit(&contexts[0], .usual)
    let horizontal = decoder.number(&contexts, .usual)
    chromaShifts = (horizontal, decoder.number(&contexts, .usual))
    hasAlpha = decoder.bit(&contexts[0], .usual)
  }
}

/// Pixel format that FFmpeg's FFV1 decoder outputs.
package struct FFV1PixelFormat: Sendable, Equatable {
  /// Bits per component.
  package let depth: Int
  /// Displayed name of the channels: `4:2:0`, `grey`, `RGB with transparency`.
  package let channels: String
  /// GStreamer name of the pixel format; nil if GStreamer has none.
  package let name: String?

  /// - Parameters:
  ///   - configuration: Configuration Record; nil in versions 0 and 1, which have none.
  ///   - packet: first packet of the stream.
  /// - Returns: nil if neither `configuration` nor `packet` contains the parameters of the stream.
  package init?(configuration: [UInt8]?, firstPacket packet: UnsafeRawBufferPointer) {
    guard let parameters = FFV1Parameters(configuration: configuration) ?? FFV1Parameters(keyframe: packet) else {
      return nil
    }
    let shifts = parameters.chromaShifts
    let sampling =
      switch (parameters.isRGB, parameters.hasChroma, shifts.x, shifts.y) {
      case (true, _, _, _): "RGB"
      case (_, false, _, _): "grey"
      case (_, _, 0, 0): "4:4:4"
      case (_, _, 0, 1): "4:4:0"
      case (_, _, 1, 0): "4:2:2"
      case (_, _, 1, 1): "4:2:0"
      case (_, _, 2, 0): "4:1:1"
      case (_, _, 2, 2): "4:1:0"
      default: "subsampled chroma"
      }
    channels = sampling + (parameters.hasAlpha ? " with transparency" : "")
    depth = parameters.depth
    name = FFV1PixelFormat.names[max(depth, 8)]?[channels]
  }

  /// GStreamer names of pixel formats, by depth and channels. Other formats of FFmpeg's decoder
  /// have no name in GStreamer 1.28.
  private static let names: [Int: [String: String]] = [
    8: [
      "grey": "GRAY8", "4:4:4": "Y444", "4:2:2": "Y42B", "4:2:0": "I420", "4:1:1": "Y41B", "4:1:0": "YUV9",
      "4:2:0 with transparency": "A420", "RGB": "BGRx", "RGB with transparency": "BGRA",
    ],
    10: [
      "grey": "GRAY10_LE16", "4:4:4": "Y444_10LE", "4:2:2": "I422_10LE", "4:2:0": "I420_10LE",
      "4:4:4 with transparency": "A444_10LE", "4:2:2 with transparency": "A422_10LE",
      "4:2:0 with transparency": "A420_10LE", "RGB": "GBR_10LE", "RGB with transparency": "GBRA_10LE",
    ],
    12: [
      "4:4:4": "Y444_12LE", "4:2:2": "I422_12LE", "4:2:0": "I420_12LE", "RGB": "GBR_12LE",
      "RGB with transparency": "GBRA_12LE",
    ],
    16: ["grey": "GRAY16_LE"],
  ]
}
