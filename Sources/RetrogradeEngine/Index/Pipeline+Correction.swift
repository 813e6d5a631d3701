import Containers
import GStreamer

extension Pipeline {
  /// Applies `correction` to the bytes of the file as they are read, and ends each stream at its
  /// time in `correction.ends`, if any.
  func correct(_ correction: any FileCorrection) {
    (element("source") ?? elements(ofFactory: "filesrc").first)?.staticPad("src")?.onBuffer { buffer in
      guard let offset = buffer.offset, correction.changes(offset..<offset + buffer.size) else { return nil }
      let copy = buffer.deepCopy()
      let written: Void? = try? copy.withMutableBytes { correction.apply(to: $0, at: offset) }
      return written.map { copy }
    }
    let ends = correction.ends
    guard !ends.isEmpty else { return }
    for demuxer in elements(ofFactory: correction.demuxer) {
      demuxer.onPadAdded { pad in
        if let end = ends[pad.name] { pad.endSegments(at: end) }
      }
    }
  }
}
