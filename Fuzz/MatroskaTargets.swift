import Containers

enum MatroskaTargets {
  /// Checks that EBML elements are the same after they are encoded and read again.
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
    let track = MatroskaHeader.Track(
      disposition: Disposition(isDefault: false, isForced: true), fieldOrder: .topFirst,
      pixelAspectRatio: (width: 32, height: 27))
    let header = MatroskaHeader(videos: [track, track], audio: [track], subtitles: [track], unquoted: { $0 })
    try? header.apply(to: path)
    precondition(RandomAccessFile(path)?.size == bytes.count, "no byte of the file moves")
    _ = ContainerFacts(path)
  }
}
