import GStreamer
import MediaTime
import Synchronization

/// Feeds a decoder with the packets of a store, beginning with the first packet. After a seek, the
/// feed continues with the packet set by ``begin(atPacket:)``.
final class PacketFeed: Sendable {
  private struct State {
    /// Position in the store of the next packet to push.
    var next = 0
    /// Position in the store of the packet to continue with after the next seek.
    var target = 0
    var caps: Caps?
    var failure: (any Error)?
  }

  /// Name of the appsrc.
  static let element = "packets"

  private let store: PacketStore
  private let source: AppSource
  private let state = Mutex(State())

  /// - Parameter pipeline: pipeline that begins with an appsrc named ``element``, and has not
  ///   started yet.
  init(_ store: PacketStore, into pipeline: Pipeline) throws {
    self.store = store
    source = try pipeline.appSource(PacketFeed.element)
    source.onDemand { [weak self] in
      self?.give()
    } seek: { [weak self] in
      self?.state.withLock { $0.next = $0.target }
    }
  }

  /// Sets the packet to continue with after the next seek, by its number in the index.
  func begin(atPacket number: Int) { state.withLock { $0.target = store.place(ofPacket: number) } }

  /// Error that ended reading; nil if there was none.
  var failure: (any Error)? { state.withLock { $0.failure } }

  private func give() {
    do {
      let place: Int? = state.withLock { state in
        guard state.next < store.count else { return nil }
        defer { state.next += 1 }
        return state.next
      }
      guard let place else { return source.endOfStream() }
      let (buffer, caps) = try store.packet(at: place)
      let isNew = state.withLock { state in
        defer { state.caps = caps }
        return !(state.caps?.isEqual(caps) ?? false)
      }
      if isNew { source.setCaps(caps) }
      _ = source.push(buffer)
    } catch {
      state.withLock { $0.failure = error }
      source.endOfStream()
    }
  }
}
