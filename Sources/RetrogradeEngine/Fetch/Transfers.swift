import GStreamer
import Synchronization

/// Watches the source elements of an adaptive demuxer, because the demuxer does not report their
/// failures (`Quirk.dashdemuxMissingEnd`).
final class Transfers: Sendable {
  private struct State {
    var isRefused = false
    var sources: [Element] = []
    /// Addresses that have sent data.
    var come: Set<String> = []
  }

  /// Name of the element factory of all allowed source elements.
  private let reader: String
  private let state = Mutex(State())

  init(by reader: String) { self.reader = reader }

  /// - Parameter element: element that was added to the demuxer.
  func watch(_ element: Element) {
    guard element.isOfClass("Source") else { return }
    guard element.factoryName == reader, let pad = element.staticPad("src") else {
      // Refuse addresses of other kinds, so that an online playlist cannot cause local files to be
      // read.
      state.withLock { $0.isRefused = true }
      return element.fail(GStreamerError(kind: .inputOutput, element: nil, message: "is not read", debug: nil))
    }
    state.withLock { $0.sources.append(element) }
    pad.watchBuffers { [self] _, pad in
      guard let address = pad.origin?.element.string("location") else { return }
      state.withLock { _ = $0.come.insert(address) }
    }
  }

  /// Releases the elements, to break a reference cycle: this object references the elements, and
  /// the probes on the elements' pads reference this object.
  func releaseElements() { state.withLock { $0 = State() } }

  /// - Parameters:
  ///   - name: name of the playlist in messages.
  ///   - isOver: true if reading has ended.
  /// - Throws: ``RetrogradeError`` if a source element was refused; if `isOver` is true, also if a
  ///   source element sent no data.
  func check(_ name: String, isOver: Bool = false) throws {
    let state = state.withLock { $0 }
    if state.isRefused {
      throw RetrogradeError(
        .damagedInput, about: name,
        "is a playlist from the network, but refers to a URL that is neither http nor https")
    }
    // One source element reads the media segments one after another, and its `location` is the
    // address of the last request. So only the last request of each element can be checked.
    guard isOver,
      let missing = state.sources.lazy.compactMap({ $0.string("location") }).first(where: { !state.come.contains($0) })
    else { return }
    throw RetrogradeError(
      .inputOutput, about: name, "is a playlist that refers to \(missing), which can't be downloaded",
      remedy: "try again")
  }
}
