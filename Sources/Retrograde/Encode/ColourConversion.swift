import GStreamer
import RetrogradeEngine

/// Elements that prepare YUV frames for `videoconvert`, which alone would convert colours wrongly.
enum ColourConversion {
  /// Returns the elements before the final `videoconvert`; empty if range and matrix stay the same.
  ///
  /// `videoconvert` does not convert the range within one matrix (`Quirk.videoconvertRange`). A
  /// detour through RGB would clip the colours that RGB cannot represent, so `videobalance` scales
  /// luma and chroma instead. Frames are converted to another matrix in ten bits: the mean error is
  /// below 0.5. In eight bits, `videoconvert` rounds down: in GStreamer 1.22, all levels were two
  /// of 255 too low.
  /// - Parameters:
  ///   - colours: colorimetry of the frames.
  ///   - target: colorimetry of the encoder, with the matrix of BT.601.
  ///   - formats: possible pixel formats of the encoder, except grey.
  static func elements(from colours: String, to target: String, formats: [String]) -> [String] {
    let own = colours == "bt601" ? "2:4:" : String(colours.prefix(4))
    let goal = String(target.prefix(4))
    if own == goal { return [] }
    let keepsMatrix = own.hasSuffix(":4:")
    let listed = (keepsMatrix ? formats : formats.compactMap { deeper[$0] }.unique).joined(separator: ",")
    let converted = [
      "videoconvert n-threads=2 dither=none",
      "capsfilter caps=\(Description.quoted("video/x-raw,format={\(listed)}"))",
    ]
    guard keepsMatrix else { return converted }
    return converted + [
      goal == "1:4:" ? expansion : compression,
      "capssetter caps=\(Description.quoted("video/x-raw,colorimetry=(string)\(target)"))",
    ]
  }

  /// Ten-bit format with the same chroma subsampling, for each eight-bit format.
  private static let deeper = ["I420": "I420_10LE", "YV12": "I420_10LE", "Y42B": "I422_10LE", "Y444": "Y444_10LE"]

  /// Converts limited to full range: luma 16 to 235 becomes 0 to 255, and chroma expands from 224
  /// to 255 steps. `videobalance` multiplies the distance from 16 by the contrast, and then adds
  /// 255 times the brightness.
  private static let expansion =
    "videobalance contrast=\(255.0 / 219) brightness=\(-16.0 / 255) saturation=\(255.0 / 224)"
  /// Converts full to limited range.
  private static let compression =
    "videobalance contrast=\(219.0 / 255) brightness=\(16 * 219.0 / 255 / 255) saturation=\(224.0 / 255)"
}
