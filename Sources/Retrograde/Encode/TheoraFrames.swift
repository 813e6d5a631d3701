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
  /// Elements before the final conversion (``ColourConversion``).
  let preparation: [String]
  /// Caps of the frames for the encoder.
  let caps: String

  /// - Parameters:
  ///   - source: caps of the input.
  ///   - format: pixel format chosen for the encoder; nil: the input's format, if Theora supports
  ///     that format.
  /// - Returns: nil if the frames already have Theora's range and matrix, or if their
  ///   colorimetry is unknown.
  init?(_ source: Caps, format: String?) {
    let declared = source.string("colorimetry")
    let known =
      source.isRGB ? declared : source.withRange.string("colorimetry").map { JPEGFrames.withMatrix($0, source) }
    if !source.isRGB, known.map({ $0 == "bt601" || $0.hasPrefix("2:4:") }) ?? true { return nil }
    colours = known == declared ? nil : known.map { "video/x-raw,colorimetry=(string)\($0)" }
    let own = source.string("format")
    // Name a single format: given a choice of formats, `videoconvert` would output 4:4:4.
    let kept = own.flatMap { ["I420", "Y42B", "Y444"].contains($0) ? $0 : nil }
    let chosen = format ?? kept ?? "I420"
    let colorimetry = "2:4:5:0"
    caps = "video/x-raw,format=\(chosen),colorimetry=(string)\(colorimetry)"
    preparation =
      source.isRGB
      ? [] : known.map { ColourConversion.elements(from: $0, to: colorimetry, formats: [chosen]) } ?? []
  }
}
