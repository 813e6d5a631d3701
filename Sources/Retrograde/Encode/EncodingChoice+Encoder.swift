import GStreamer
import RetrogradeEngine

extension EncodingChoice {
  /// Returns the codec of an encoder that was requested by name.
  /// - Throws: ``RetrogradeError`` of code `missingPlugin` if there is no such encoder, or of code
  ///   `usage` if the encoder does not fit the output or the options.
  static func codec(madeBy encoder: String, _ options: EncodingOptions, _ container: Container, _ output: String) throws
    -> Codec
  {
    let remedy: Message = "`retrograde codecs` lists the encoders of this machine"
    guard let kind = Registry.kind(of: encoder) else {
      throw RetrogradeError(
        .missingPlugin, "\(setting: .encoder) \(encoder): no such GStreamer element is installed", remedy: remedy)
    }
    guard kind.contains("Encoder"), let codec = Codec(madeBy: encoder) else {
      throw RetrogradeError(
        .usage, "\(setting: .encoder) \(encoder): this element is not a video encoder (\(kind))", remedy: remedy)
    }
    if let name = options.videoCodec, let wanted = Codec(named: name), !wanted.caps.intersects(codec.caps) {
      throw RetrogradeError(
        .usage,
        "\(setting: .encoder) \(encoder) encodes \(codec.caps.codecName), but \(setting: .videoCodec) is \(name)")
    }
    guard container.takes(codec.caps) else {
      throw RetrogradeError(
        .usage, about: output, "this container can't hold \(codec.caps.codecName), which \(encoder) encodes")
    }
    Log.encode.info("\(output): \(codec.text) by \(encoder), which was asked for")
    return codec
  }

  /// Checks that `encoder` has the properties in `options` and accepts their values.
  static func check(_ options: [String: String], of encoder: String) throws {
    guard !options.isEmpty, let element = Element(factory: encoder) else { return }
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      do {
        try element.set(name, value)
      } catch {
        let isKnown = Registry.property(name, of: encoder)
        throw RetrogradeError(
          .usage,
          isKnown
            ? "\(setting: .encoderOptions): \(encoder): \(error.message)"
            : "\(setting: .encoderOptions): \(encoder) has no property \(name)",
          remedy: "`gst-inspect-1.0 \(Shell.quoted(encoder))` lists its properties")
      }
    }
  }
}
