import MediaTime

/// Positions of the packets in a single encoding of an audio stream, and their division into
/// segments.
///
/// Packet `j` starts at sample `j * packet - priming`, counted from the first sample pushed into
/// the encoder.
struct PacketGrid: Sendable {
  /// Number of sample frames in the output.
  let samples: Int
  /// Number of sample frames in a packet.
  let packet: Int
  /// Number of priming sample frames that the encoder adds before the first sample frame of the
  /// output.
  let priming: Int
  let rate: Int
  /// Packets of each segment.
  let segments: [Range<Int>]

  /// Number of sample frames in an AAC packet (ISO/IEC 14496-3, 4.5.2.1.1).
  static let AAC = 1024
  /// Number of sample frames in an ALAC packet, as in the encoders of Apple and FFmpeg.
  static let ALAC = 4096

  /// Number of extra packets to encode before and after the packets of a segment. With fewer extra
  /// packets, the packets of the segment differ from those of a single encoding, because encoders
  /// look back and ahead.
  private static let (before, after) = (16, 4)

  /// - Parameter cuts: preferred start times of segments, ascending from 0.
  init(samples: Int, packet: Int, priming: Int, rate: Int, cuts: [ClockTime]) {
    (self.samples, self.packet, self.priming, self.rate) = (samples, packet, priming, rate)
    let count = (samples + priming + packet - 1) / packet
    var starts = [0]
    // The first segment includes the packets that contain the priming.
    for cut in cuts.dropFirst() {
      let place = (max(cut, .zero).sampleIndex(rate: rate) + priming + packet / 2) / packet
      // `cuts` may come from a video that is longer than the audio. No segment starts after the
      // last audio sample.
      if let last = starts.last, place > max(last, priming / packet), place * packet - priming < samples {
        starts.append(place)
      }
    }
    segments = zip(starts, starts.dropFirst() + [count]).map { $0..<$1 }
  }

  /// Returns the range of sample frames to push into the encoder to get `packets`. The range starts
  /// at a multiple of the packet length.
  func samples(for packets: Range<Int>) -> Range<Int> {
    let first = max(packets.lowerBound - PacketGrid.before, 0) * packet
    return first..<max(first, min((packets.upperBound + PacketGrid.after) * packet, samples))
  }

  /// Returns the length of packet `number` in sample frames. The last packet may be shorter than
  /// the others.
  func length(ofPacket number: Int) -> Int { min(packet, max(samples + priming - number * packet, 1)) }

  /// Start and duration of each segment.
  var times: [SegmentedMirror.Segment] {
    func time(_ packet: Int) -> ClockTime {
      ClockTime(sampleIndex: min(max(packet * self.packet - priming, 0), samples), rate: rate)
    }
    return segments.map { .init(start: time($0.lowerBound), duration: time($0.upperBound) - time($0.lowerBound)) }
  }
}
