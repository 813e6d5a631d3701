import MediaTime
import Synchronization

extension Pipeline {
  /// Keeps the encoders' packet durations if a parser after the encoder drops or changes them.
  package func keepEncodedDurations() {
    for encoder in elements(ofClass: "Encoder") {
      guard let parser = encoder.downstream.dropFirst().first(where: { $0.isOfClass("Parser") }) else { continue }
      PacketDurations.keep(from: encoder.staticPad("src"), to: parser.staticPad("src"))
    }
  }

  /// Keeps the demuxer's packet durations on the path to `sink` if a parser drops or changes them.
  /// Must be called before the pipeline starts.
  package func keepDemuxedDurations(to sink: Element) {
    guard let parser = sink.upstream.last(where: { $0.isOfClass("Parser") }) else { return }
    PacketDurations.keep(from: parser.firstSinkPad, to: parser.staticPad("src"))
  }
}

/// Durations of packets that enter a parser, by PTS.
private final class PacketDurations: Sendable {
  private let known = Mutex<[(pts: ClockTime, duration: ClockTime)]>([])
  /// Maximum number of stored durations; a parser queues fewer packets.
  private static let most = 64

  /// Restores at `second` the durations that packets had at `first`.
  static func keep(from first: Pad?, to second: Pad?) {
    let durations = PacketDurations()
    first?.onBuffer { packet in
      durations.note(packet)
      return nil
    }
    second?.onBuffer(durations.restored)
  }

  private func note(_ packet: Buffer) {
    guard let pts = packet.pts, let duration = packet.duration else { return }
    known.withLock { known in
      if known.count == Self.most { known.removeFirst() }
      known.append((pts, duration))
    }
  }

  /// Returns a copy of a packet with its recorded duration; nil if the packet has that duration
  /// already, or none was recorded.
  @Sendable private func restored(_ packet: Buffer) -> Buffer? {
    guard let pts = packet.pts,
      let duration = known.withLock({ known in
        known.firstIndex { $0.pts == pts }.map { known.remove(at: $0).duration }
      }), duration != packet.duration
    else { return nil }
    return packet.retimed(pts: pts, dts: packet.dts, duration: duration)
  }
}
