import GStreamer
import Quirks
import RetrogradeEngine

/// Sample rates and channel layouts that an audio encoder or a PCM muxer accepts.
struct AudioCapabilities {
  private let codec: Codec
  private let container: Container
  private let encoder: String?

  init(_ codec: Codec, _ container: Container) {
    (self.codec, self.container) = (codec, container)
    encoder = codec.encoder
  }

  /// Channel masks that FLAC, Vorbis and Opus prescribe, by number of channels (RFC 9639, 9.1.3;
  /// Vorbis I, 4.3.9). Each bit is a `GstAudioChannelPosition`.
  private static let fixed: [Int: UInt64] = [
    3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3F, 7: 0xD0F, 8: 0xC3F,
  ]

  private var hasFixedSpeakers: Bool {
    ["audio/x-flac", "audio/x-vorbis", "audio/x-opus"].contains(codec.caps.mediaType)
  }

  /// Returns the smallest accepted rate above `rate`, or the largest accepted rate if all accepted
  /// rates are below `rate`; nil if the encoder accepts `rate`, or if there is no encoder.
  func rate(for rate: Int) -> Int? {
    guard let encoder, !takes("rate=\(rate)", encoder) else { return nil }
    let taken = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000]
      .filter { takes("rate=\($0)", encoder) }
    return taken.first { $0 > rate } ?? taken.last
  }

  /// True if `count` channels are accepted, with any mask.
  func takes(_ count: Int) -> Bool { takes(count, "channels=\(count)") }

  /// Returns a channel mask that the encoder or muxer accepts for `count` channels; nil if none is
  /// accepted. FLAC, Vorbis and Opus have one fixed mask per number of channels. For other codecs,
  /// the mask is `given`, or else GStreamer's default mask (for PCM: 0). With one or two channels,
  /// the mask is always GStreamer's default mask.
  func mask(for count: Int, like given: UInt64) -> UInt64? {
    if count <= 2 { return takes(count) ? Speakers.usual(count) : nil }
    if hasFixedSpeakers { return takes(count) ? AudioCapabilities.fixed[count] ?? 0 : nil }
    // For AAC, use rear loudspeakers, because with side loudspeakers avenc_aac fails or loses the
    // positions.
    let wanted = codec.caps.mediaType == "audio/mpeg" ? Speakers.withRearPair(given) : given
    let usual = Speakers.usual(count)
    let masks = codec.isRaw ? [wanted, 0] : wanted == 0 ? [usual] : [wanted, usual]
    return masks.first { takes(count, "channels=\(count),\(Caps.field(channelMask: $0))") }
  }

  /// Returns, for each channel of the encoder's input, the position of that channel in the file's
  /// channel order; nil if both orders are equal.
  func order(of count: Int) -> [Int]? {
    switch encoder {
    case "flacenc" where Quirk.flacencSurround.applies:
      [7: [0, 1, 4, 5, 2, 3, 6], 8: [0, 1, 4, 5, 2, 3, 6, 7]][count]
    case "opusenc" where Quirk.opusencSurround.applies:
      [5: [0, 1, 4, 2, 3], 7: [0, 1, 4, 3, 5, 2, 6], 8: [0, 1, 6, 7, 2, 3, 4, 5]][count]
    default: nil
    }
  }

  /// Returns the mask that the format assumes for `count` channels if a file stores no mask; 0 if
  /// GStreamer's default is the same. The masks differ only for FLAC with seven channels, which has
  /// a side pair after the rear centre (RFC 9639, 9.1.3).
  func assumedMask(for count: Int) -> UInt64 { encoder == "flacenc" && count == 7 ? 0xD0F : 0 }

  /// Returns the mask that the encoder's input needs if channels are reordered; nil if that mask is
  /// the same as in the file.
  func inputMask(for count: Int) -> UInt64? {
    encoder == "flacenc" && count == 7 && Quirk.flacencSurround.applies ? 0x13F : nil
  }

  private func takes(_ count: Int, _ fields: String) -> Bool {
    guard let encoder else { return Caps("audio/x-raw,\(fields)").map(container.takes) ?? false }
    // Ask the muxer too: qtmux, for example, writes at most two channels of ALAC.
    let isWritten = Caps("\(codec.caps.mediaType),channels=\(count)").map(container.takes) ?? false
    return isWritten && takes(fields, encoder)
  }

  private func takes(_ fields: String, _ encoder: String) -> Bool {
    Caps("audio/x-raw,\(fields)").map { Registry.factory(encoder, takes: $0) } ?? false
  }
}
