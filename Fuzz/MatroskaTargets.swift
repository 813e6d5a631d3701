@testable import Retrograde
@testable import RetrogradeEngine
import GStreamer

enum MatroskaTargets {
  /// What is read as elements and written again must read the same.
  static func elements(_ bytes: [UInt8]) {
    let elements = EBMLElement.all(in: bytes)
    let again = EBMLElement.all(in: elements.flatMap(\.encoded))
    precondition(elements.map(\.id) == again.map(\.id) && elements.map(\.bytes) == again.map(\.bytes))
    for element in elements.prefix(8) {
      _ = element.number
      let size = element.encoded.count + Int(bytes.first ?? 0)
      if let padded = element.encoded(in: size) { precondition(padded.count == size) }
      _ = EBMLElement.all(in: element.bytes)
    }
  }

  static func file(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    _ = MatroskaTrack.all(path)
    guard let caps = stream.map(\.caps) else { return }
    let stream = MediaWriter.Stream(
      name: "", caps: caps, disposition: Disposition(isDefault: false, isForced: true), fieldOrder: .topFirst)
    try? MatroskaHeader(videos: [stream, stream], audio: [stream], texts: [stream]).apply(to: path, for: path)
    precondition(MovieFile(path)?.size == bytes.count, "no byte of the file moves")
    _ = MatroskaTrack.all(path)
  }

  private static let stream = Caps("video/x-raw,pixel-aspect-ratio=32/27").map {
    MediaWriter.Stream(name: "", caps: $0)
  }
}
