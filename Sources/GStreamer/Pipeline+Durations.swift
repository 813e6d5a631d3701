import MediaTime
import Synchronization

extension Pipeline {
  /// Gives packets the durations that their encoders gave them where a parser behind the encoder drops those.
  package func keepEncodedDurations() {
    for encoder in elements(ofClass: "Encoder") {
      guard let parser = encoder.downstream.dropFirst().first(where: { $0.isOfClass("Parser") }) else { continue }
      PacketDurations.keep(from: encoder.staticPad("src"), to: parser.staticPad("src"))
    }
  }

  /// Gives packets on their way to `sink` the durations that their demuxer gave them where a parser behind it drops or
  /// changes those. To be called before the pipeline starts.
  package func keepDemuxedDurations(to sink: Element) {
    guard let parser = sink.upstream.last(where: { $0.isOfClass("Parser") }) else { return }
    PacketDurations.keep(from: parser.firstSinkPad, to: parser.staticPad("src"))
  }
}

/// Durations of packets on their way into a parser, by presentation time.
private final class PacketDurations: Sendable {
  private let known = Mutex<[(pts: ClockTime, duration: ClockTime)]>([])
  /// A parser holds back fewer packets than this.
  private static let most = 64

  /// Makes packets at `second` get the durations that they had at `first`.
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

  /// `packet` with the duration that was noted for it; nil if it has that, or none was.
  @Sendable private func restored(_ packet: Buffer) -> Buffer? {
    guard let pts = packet.pts,
      let duration = known.withLock({ known in
        known.firstIndex { $0.pts == pts }.map { known.remove(at: $0).duration }
      }), duration != packet.duration
    else { return nil }
    return packet.retimed(pts: pts, dts: packet.dts, duration: duration)
  }
}
