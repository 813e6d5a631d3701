extension Quirk {
  package static let id3demuxChapters = Quirk(
    "id3demux-chapters", element: "id3demux", releases: .all,
    symptom: "It does not read chapters (`CHAP`).",
    workaround: "A warning says how many there are (`ID3Tag`).")

  static let id3demux = [id3demuxChapters]
}
