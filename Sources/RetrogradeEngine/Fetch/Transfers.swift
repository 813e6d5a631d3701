import GStreamer
import Synchronization

/// Watches the sources of an adaptive demuxer, which does not report their failures
/// (`Quirk.dashdemuxMissingEnd`).
final class Transfers: Sendable {
  private struct State {
    var isRefused = false
    var sources: [Element] = []
    /// Addresses that have sent data.
    var come: Set<String> = []
  }

  /// Factory of the only elements that may read.
  private let reader: String
  private let state = Mutex(State())

  init(by reader: String) { self.reader = reader }

  /// - Parameter element: an element that was added to the demuxer.
  func watch(_ element: Element) {
    guard element.isOfClass("Source") else { return }
    guard element.factoryName == reader, let pad = element.staticPad("src") else {
      // A playlist must not cause other files to be read.
      state.withLock { $0.isRefused = true }
      return element.fail(GStreamerError(kind: .inputOutput, element: nil, message: "is not read", debug: nil))
    }
    state.withLock { $0.sources.append(element) }
    pad.watchBuffers { [self] _, pad in
      guard let address = pad.origin?.element.string("location") else { return }
      state.withLock { _ = $0.come.insert(address) }
    }
  }

  /// Releases the elements: their pads hold this object, and it holds them.
  func releaseElements() { state.withLock { $0 = State() } }

  /// - Parameters:
  ///   - name: name of the playlist as users know it.
  ///   - isOver: true if reading has ended.
  /// - Throws: ``RetrogradeError`` if the playlist names a source that is refused or missing.
  func check(_ name: String, isOver: Bool = false) throws {
    let state = state.withLock { $0 }
    if state.isRefused {
      throw RetrogradeError(
        .damagedInput, about: name,
        "is a playlist from the network that refers to something other than http and https URLs")
    }
    // One element reads the segments in turn: this is the last one that it requested.
    guard isOver,
      let missing = state.sources.lazy.compactMap({ $0.string("location") }).first(where: { !state.come.contains($0) })
    else { return }
    throw RetrogradeError(
      .inputOutput, about: name, "is a playlist that refers to something that can't be downloaded: \(missing)",
      remedy: "try again")
  }
}
