import GStreamer
import Synchronization

/// Watches what an adaptive demuxer reads, which keeps the failures of its sources to itself: it passes over the last segment where that is
/// not there, and over others that it does not need.
final class Transfers: Sendable {
  private struct State {
    var isRefused = false
    /// Addresses of which nothing has come.
    var missing: Set<String> = []
  }

  /// The factory of the only elements that may read.
  private let reader: String
  private let state = Mutex(State())

  init(by reader: String) { self.reader = reader }

  /// - Parameter element: one that was added to the demuxer.
  func watch(_ element: Element) {
    guard element.isOfClass("Source") else { return }
    guard element.factoryName == reader else {
      // Who made the playlist must not have files read that are no concern of his.
      state.withLock { $0.isRefused = true }
      return element.fail(GStreamerError(kind: .inputOutput, element: nil, message: "is not read", debug: nil))
    }
    guard let pad = element.staticPad("src") else { return }
    let hasCome = Flag()
    pad.watchBuffers { _, _ in hasCome.set(true) }
    pad.watchEndOfStream { [self] pad in
      guard let address = pad.origin?.element.string("location") else { return }
      // It is asked again, a few times.
      if hasCome.set(false) {
        state.withLock { _ = $0.missing.remove(address) }
      } else {
        state.withLock { _ = $0.missing.insert(address) }
      }
    }
  }

  /// - Parameters:
  ///   - name: what people call the playlist.
  ///   - isOver: nothing is asked again.
  /// - Throws: ``RetrogradeError`` where it names what is not read, or what is not there.
  func check(_ name: String, isOver: Bool = false) throws {
    let state = state.withLock { $0 }
    if state.isRefused {
      throw RetrogradeError(
        .damagedInput, about: name,
        "is a playlist of the network that names something else than addresses of http and https")
    }
    guard isOver, let missing = state.missing.sorted().first else { return }
    let further = state.missing.count > 1 ? ", and \(state.missing.count - 1) more" : ""
    throw RetrogradeError(
      .inputOutput, about: name, "is a playlist that names what can't be had: \(missing)\(further)", remedy: "try again"
    )
  }
}

/// Something that has happened, or not.
private final class Flag: Sendable {
  private let value = Mutex(false)

  /// - Returns: what it was.
  @discardableResult
  func set(_ new: Bool) -> Bool {
    value.withLock { value in
      defer { value = new }
      return value
    }
  }
}
