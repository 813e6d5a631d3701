import MediaTime

/// The packets of an audio stream as one encoding of all of it would have them, and which of them are in which segment.
///
/// Packet `j` is heard from sample `j * packet - priming` on, counted from the first that was given to the encoder.
struct PacketGrid: Sendable {
  /// How many samples there are to be heard.
  let samples: Int
  /// How many sample frames a packet has.
  let packet: Int
  /// How many come before the first.
  let priming: Int
  let rate: Int
  /// The packets of each segment.
  let segments: [Range<Int>]

  /// ISO/IEC 14496-3, 4.5.2.1.1; Apple's encoder and FFmpeg's.
  static let AAC = 1024
  static let ALAC = 4096

  /// How many packets are encoded before those that are wanted, and after them: with fewer, encoders that look back and ahead give other
  /// packets than in the middle of a stream.
  private static let (before, after) = (16, 4)

  /// - Parameter cuts: when segments are wanted to begin, ascending, from 0 on.
  init(samples: Int, packet: Int, priming: Int, rate: Int, cuts: [ClockTime]) {
    (self.samples, self.packet, self.priming, self.rate) = (samples, packet, priming, rate)
    let count = (samples + priming + packet - 1) / packet
    var starts = [0]
    // The first holds the priming.
    for cut in cuts.dropFirst() {
      let place = (max(cut, .zero).sampleIndex(rate: rate) + priming + packet / 2) / packet
      // There may be more video than audio. The last packet of all may hold no more than the priming of
      // samples that do not follow.
      if let last = starts.last, place > max(last, priming / packet), place * packet - priming < samples {
        starts.append(place)
      }
    }
    segments = zip(starts, starts.dropFirst() + [count]).map { $0..<$1 }
  }

  /// The samples that are given to the encoder for some packets: from one of the grid on.
  func samples(for packets: Range<Int>) -> Range<Int> {
    let first = max(packets.lowerBound - PacketGrid.before, 0) * packet
    return first..<max(first, min((packets.upperBound + PacketGrid.after) * packet, samples))
  }

  /// Length of a packet; the last one may be shorter.
  func length(ofPacket number: Int) -> Int { min(packet, max(samples + priming - number * packet, 1)) }

  /// When each segment is heard.
  var times: [SegmentedMirror.Segment] {
    func time(_ packet: Int) -> ClockTime {
      ClockTime(sampleIndex: min(max(packet * self.packet - priming, 0), samples), rate: rate)
    }
    return segments.map { .init(start: time($0.lowerBound), duration: time($0.upperBound) - time($0.lowerBound)) }
  }
}
