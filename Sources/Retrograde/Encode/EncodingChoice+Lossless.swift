import GStreamer
import RetrogradeEngine

// Errors and warnings of `--quality lossless`. Pixels that FFV1 can't store exactly cause a
// warning; with any other codec, such pixels cause an error. Rounded audio samples cause a warning.
extension EncodingChoice {
  /// Returns the pixel format in which `codec` encodes frames like `raw` without changing any
  /// value. If FFV1 has no such format, adds a warning and returns nil.
  ///
  /// - Throws: ``RetrogradeError`` of code `usage` if a codec other than FFV1 has no such format.
  mutating func exactFormat(for raw: Caps, _ codec: Codec, _ output: String) throws -> String? {
    if let format = codec.exactFormat(for: raw) { return format }
    let (name, format) = (codec.caps.codecName, raw.string("format") ?? "?")
    guard codec.text.hasPrefix("video/x-ffv") else {
      let size = EncoderSettings.isOdd(raw) ? " of \(raw.int("width") ?? 0)x\(raw.int("height") ?? 0)" : ""
      throw RetrogradeError(
        .usage, about: output,
        "\(setting: .quality) lossless: \(name) can't store this pixel format (\(format)\(size)) exactly",
        remedy: "use .mkv or numbered .png, or leave out \(setting: .quality)")
    }
    warnings.append(
      Warning(.converted, "changed: the pixel format (\(format)) is converted, since \(name) can't store it"))
    return nil
  }

  /// Adds a warning if floating-point samples become whole numbers.
  mutating func warnAboutRounding(of track: AudioTrack, in codec: Codec) {
    // Ignore the byte order, because a change of byte order rounds nothing.
    guard let format = track.caps.string("format"), format.hasPrefix("F"),
      case let caps = track.caps.setting("format", format.replacing("BE", with: "LE")),
      codec.isRaw ? !container.takes(caps) : !codec.encodes(caps)
    else { return }
    warnings.append(
      Warning(
        .converted,
        "changed: the decoded audio samples are floating-point numbers, which this output rounds; use .mkv or .wav to "
          + "keep them",
        count: 1))
  }
}
