import GStreamer
import Quirks
import RetrogradeEngine

/// Sample rate, channels and loudspeakers of the input of an audio encoder or a PCM muxer.
struct AudioForm: Sendable, Equatable {
  /// Channel mask to set on the source's samples before conversion; nil if the source's mask is
  /// used.
  private var name: UInt64?
  /// Channels and loudspeakers after up- or downmixing; nil if channels are not mixed.
  private var mixed: MixLayout?
  /// Sample frames per second after conversion; nil if the source's rate is kept.
  private(set) var rate: Int?
  /// Number of the source channel for each encoder channel, and the mask that the encoder needs;
  /// nil if channels keep their order.
  private var order: Order?

  private struct MixLayout: Equatable {
    var channels: Int
    var mask: UInt64?
  }

  private struct Order: Equatable {
    var sources: [Int]
    var mask: UInt64
  }

  /// - Parameter source: caps of the source's samples.
  /// - Returns: nil if there are too many channels for the encoder, and the channels can't be mixed
  ///   because their loudspeakers are unknown.
  init?(_ source: Caps, for codec: Codec, in container: Container) {
    let capabilities = AudioCapabilities(codec, container)
    let count = source.int("channels") ?? 1
    rate = source.int("rate").flatMap(capabilities.rate(for:))
    if count <= 2, capabilities.takes(count) { return }
    let given = source.channelMask ?? 0
    if let wanted = capabilities.mask(for: count, like: given) {
      var sources = Array(0..<count)
      if let renamed = Speakers.order(of: given == 0 ? capabilities.assumedMask(for: count) : given, as: wanted, count)
      {
        if given != wanted { name = wanted }
        sources = renamed
      } else {
        mixed = MixLayout(channels: count, mask: wanted)
      }
      let shuffled = capabilities.order(of: count).map { $0.map { sources[$0] } } ?? sources
      if shuffled != Array(0..<count) {
        order = Order(sources: shuffled, mask: capabilities.inputMask(for: count) ?? wanted)
      }
      return
    }
    let fewer = (1..<max(count, 2)).reversed().first { capabilities.mask(for: $0, like: Speakers.usual($0)) != nil }
    guard given != 0 || count <= 2, let fewer else { return nil }
    mixed = MixLayout(
      channels: fewer, mask: fewer > 1 ? capabilities.mask(for: fewer, like: Speakers.usual(fewer)) : nil)
    if let sources = capabilities.order(of: fewer) {
      order = Order(sources: sources, mask: capabilities.inputMask(for: fewer) ?? Speakers.usual(fewer))
    }
  }

  /// Caps of the mixed samples: channels, and the mask if known; nil if channels are not mixed.
  var mixedCaps: Caps? {
    mixed.flatMap { Caps("audio/x-raw,\(fields($0))") }
  }

  /// GStreamer elements that convert the samples for the encoder, in `gst-launch-1.0` syntax.
  var elements: [String] {
    let called = name.map { ["capssetter caps=\"audio/x-raw,\(Caps.field(channelMask: $0))\""] } ?? []
    let limits = [mixed.map(fields), rate.map { "rate=\($0)" }].compactMap { $0 }
    let limit = limits.isEmpty ? [] : ["audio/x-raw,\(limits.joined(separator: ","))"]
    return called + ["audioconvert dithering=none", "audioresample"] + limit + reordering
  }

  private func fields(_ mixed: MixLayout) -> String {
    "channels=\(mixed.channels)" + (mixed.mask.map { ",\(Caps.field(channelMask: $0))" } ?? "")
  }

  private var reordering: [String] {
    guard let order else { return [] }
    let rows = order.sources.map { source in
      "<" + order.sources.indices.map { "(float)\($0 == source ? 1 : 0)" }.joined(separator: ",") + ">"
    }
    return [
      "audioconvert dithering=none mix-matrix=\"<\(rows.joined(separator: ","))>\"",
      "audio/x-raw,channels=\(order.sources.count),\(Caps.field(channelMask: order.mask))",
    ]
  }
}

extension Container {
  /// True unless the output loses the loudspeaker positions of `track`. For PCM, only WAVE stores a
  /// channel mask; in other containers, players assume the usual mask. Codecs other than PCM have a
  /// fixed channel order for up to eight channels.
  func holdsLoudspeakers(of track: AudioTrack, in codec: Codec) -> Bool {
    let mask = track.caps.channelMask ?? 0
    return isWave || mask == 0 || track.channels <= 2
      || track.channels <= 8 && (!codec.isRaw || mask == Speakers.usual(track.channels))
  }
}

/// Loudspeakers as channel masks, with a bit for each `GstAudioChannelPosition`.
enum Speakers {
  /// Rear left and right: positions 4 and 5.
  private static let rear: UInt64 = 0x30
  /// Side left and right: positions 10 and 11.
  private static let side: UInt64 = 0xC00

  /// GStreamer's default mask for `count` channels; 0: none.
  static func usual(_ count: Int) -> UInt64 {
    Caps(floatSamplesOf: count, rate: 48_000)?.channelMask ?? 0
  }

  /// Returns the source channel for each channel of `wanted`, if the two masks mean the same
  /// loudspeakers: the masks are equal, one mask is 0, or one mask has a side pair where the other
  /// has a rear pair (`Quirk.audioconvertSideSpeakers`). Returns nil if the channels have to be
  /// mixed.
  static func order(of given: UInt64, as wanted: UInt64, _ count: Int) -> [Int]? {
    if given == wanted || given == 0 || wanted == 0 { return Array(0..<count) }
    let pairs = [(side, rear), (rear, side)]
    guard let (from, to) = pairs.first(where: { given & $0 == $0 && given & $1 == 0 && given & ~$0 | $1 == wanted })
    else { return nil }
    let places = (0..<64).filter { given & 1 << $0 != 0 }
    let moved = places.map { from & 1 << $0 == 0 ? $0 : $0 + to.trailingZeroBitCount - from.trailingZeroBitCount }
    return (0..<count).sorted { moved[$0] < moved[$1] }
  }

  /// Returns `mask` with the rear pair in place of the side pair; unchanged if `mask` already has a
  /// rear pair.
  static func withRearPair(_ mask: UInt64) -> UInt64 {
    mask & side == side && mask & rear == 0 ? mask & ~side | rear : mask
  }
}
