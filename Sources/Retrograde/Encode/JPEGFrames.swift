import GStreamer
import RetrogradeEngine

/// Conversion of frames for JPEG encoders.
///
/// JPEG does not store range and matrix: decoders assume full range and the matrix of BT.601 (JFIF,
/// ITU-T T.871, 7). `jpegenc` converts neither range nor matrix, and writes RGB as RGB, which few
/// decoders support.
struct JPEGFrames {
  /// Pixel formats that `jpegenc` writes as planar YUV or grey (`Quirk.jpegencRowPadding`), and
  /// that `avdec_mjpeg` can read (`Quirk.avdecMJPEGFullRange411`).
  static let formats = ["I420", "YV12", "Y42B", "Y444", "GRAY8"]

  /// Full range, and the matrix of BT.601.
  private static let colorimetry = "1:4:0:0"

  /// Caps of the frames for the encoder.
  let caps: String
  /// Caps that add the missing parts of the input's colorimetry; nil if nothing is missing. The
  /// converter would not convert frames with incomplete colorimetry.
  let colours: String?
  /// Elements before the final conversion (``ColourConversion``).
  let preparation: [String]

  /// - Parameters:
  ///   - source: caps of the input.
  ///   - width: width of the encoded frames, in pixels.
  init(_ source: Caps, width: Int?) {
    let format = source.string("format") ?? "I420"
    // Allow only one format where possible: out of several, the converter would choose 4:4:4.
    let halved = ["I420", "A420", "P010", "P012", "P016", "NV12", "NV21"].contains { format.hasPrefix($0) }
    let wide = ["I422", "A422", "v210", "UYVP", "UYVY", "YUY2", "YVYU", "Y210", "Y212", "Y41B"].contains {
      format.hasPrefix($0)
    }
    let isGrey = format.hasPrefix("GRAY")
    // Use grey only for widths that are multiples of 8: jpegenc copies each row of a grey frame,
    // and libjpeg reads beyond the end of the copy (`Quirk.jpegencRowPadding`).
    let isFilled = width.map { $0 % 8 == 0 } ?? false
    let formats =
      isGrey
      ? [isFilled ? "GRAY8" : "I420"]
      : JPEGFrames.formats.contains(format) ? [format] : halved ? ["I420"] : wide ? ["Y42B"] : JPEGFrames.formats
    caps = "video/x-raw,format={\(formats.joined(separator: ","))},colorimetry=(string)\(Self.colorimetry)"
    let said = source.string("colorimetry")
    let known = source.isRGB ? said : source.withRange.string("colorimetry").map { JPEGFrames.withMatrix($0, source) }
    // `videobalance` has no grey format.
    let balanced = isGrey ? ["I420"] : formats.filter { $0 != "GRAY8" }
    preparation =
      source.isRGB
      ? [] : known.map { ColourConversion.elements(from: $0, to: Self.colorimetry, formats: balanced) } ?? []
    colours = known == said ? nil : known.map { "video/x-raw,colorimetry=(string)\($0)" }
  }

  /// Returns the colorimetry (`range:matrix:transfer:primaries`) with GStreamer's default matrix in
  /// place of an unknown matrix (0).
  static func withMatrix(_ colours: String, _ caps: Caps) -> String {
    var parts = colours.split(separator: ":").map(String.init)
    guard parts.count == 4, parts[1] == "0" else { return colours }
    parts[1] = caps.isHighDefinition ? "3" : "4"
    return parts.joined(separator: ":")
  }
}
