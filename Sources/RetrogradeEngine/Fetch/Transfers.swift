import GStreamer
import Synchronization

/// Watches the sources of an adaptive demuxer, which keeps their failures to itself (`Quirk.dashdemuxMissingEnd`).
final class Transfers: Sendable {
  private struct State {
    var isRefused = false
    var sources: [Element] = []
    /// Addresses from which something has come.
    var come: Set<String> = []
  }

  /// The factory of the only elements that may read.
  private let reader: String
  private let state = Mutex(State())

  init(by reader: String) { self.reader = reader }

  /// - Parameter element: one that was added to the demuxer.
  func watch(_ element: Element) {
    guard element.isOfClass("Source") else { return }
    guard element.factoryName == reader, let pad = element.staticPad("src") else {
      // A playlist's author must not be able to have other files read.
      state.withLock { $0.isRefused = true }
      return element.fail(GStreamerError(kind: .inputOutput, element: nil, message: "is not read", debug: nil))
    }
    state.withLock { $0.sources.append(element) }
    pad.watchBuffers { [self] _, pad in
      guard let address = pad.origin?.element.string("location") else { return }
      state.withLock { _ = $0.come.insert(address) }
    }
  }

  /// The elements' pads hold it, and it holds the elements.
  func letGo() { state.withLock { $0 = State() } }

  /// - Parameters:
  ///   - name: name of the playlist as users know it.
  ///   - isOver: nothing is read any more.
  /// - Throws: ``RetrogradeError`` where the playlist names a source that is not read, or not there.
  func check(_ name: String, isOver: Bool = false) throws {
    let state = state.withLock { $0 }
    if state.isRefused {
      throw RetrogradeError(
        .damagedInput, about: name,
        "is a playlist from the network that names something other than http and https addresses")
    }
    // One element reads one segment after the other: this is the last one that it was asked for.
    guard isOver,
      let missing = state.sources.lazy.compactMap({ $0.string("location") }).first(where: { !state.come.contains($0) })
    else { return }
    throw RetrogradeError(
      .inputOutput, about: name, "is a playlist that names something that can't be downloaded: \(missing)",
      remedy: "try again")
  }
}
