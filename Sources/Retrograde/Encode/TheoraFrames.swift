import GStreamer
import RetrogradeEngine

/// Conversion of frames for `theoraenc`.
///
/// Theora does not store colour range and matrix: decoders assume limited range and the matrix of
/// BT.601 (Theora specification, 4.2). `theoraenc` neither converts frames to this range and
/// matrix, nor stores the primaries.
struct TheoraFrames {
  /// Caps that add the missing parts of the input's colorimetry, because the converter would not
  /// convert frames with incomplete colorimetry; nil if nothing is missing.
  let colours: String?
  /// Pixel format to convert to before the final conversion; nil if one conversion suffices
  /// (`Quirk.videoconvertRange`).
  let detour: String?
  /// Caps of the frames for the encoder.
  let caps: String

  /// - Parameters:
  ///   - source: caps of the input.
  ///   - format: pixel format chosen for the encoder; nil: the input's format, if Theora supports
  ///     that format.
  /// - Returns: nil if the frames already have Theora's range and matrix.
  init?(_ source: Caps, format: String?) {
    let declared = source.string("colorimetry")
    let known =
      source.isRGB ? declared : source.withRange.string("colorimetry").map { JPEGFrames.withMatrix($0, source) }
    if !source.isRGB, known.map({ $0 == "bt601" || $0.hasPrefix("2:4:") }) ?? true { return nil }
    colours = known == declared ? nil : known.map { "video/x-raw,colorimetry=(string)\($0)" }
    let own = source.string("format")
    detour = known?.hasPrefix("1:4:") ?? false ? own.flatMap { TheoraFrames.detours[$0] } : nil
    // Name a single format: given a choice of formats, `videoconvert` would output 4:4:4.
    let kept = own.flatMap { ["I420", "Y42B", "Y444"].contains($0) ? $0 : nil }
    caps = "video/x-raw,format=\(format ?? kept ?? "I420"),colorimetry=(string)2:4:5:0"
  }

  /// Intermediate format for each pixel format, with the same chroma subsampling. The fast paths of
  /// `videoconvert` do not convert the range, but there are none for the intermediate formats.
  private static let detours = [
    "I420": "I420_10LE", "YV12": "I420_10LE", "NV12": "I420_10LE", "NV21": "I420_10LE", "Y42B": "I422_10LE",
    "Y444": "Y444_10LE",
  ]
}
