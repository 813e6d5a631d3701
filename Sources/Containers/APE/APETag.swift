/// The tag behind the last packet of a WavPack or MP3 file ("APEv2 specification", Hydrogenaudio).
enum APETag {
  /// Reads the items that apedemux leaves out.
  /// - Parameter isPassedOver: apedemux does not read the file: all items.
  /// - Returns: tags, by their names in Vorbis comments where these have one; and items that are no text.
  static func unread(in file: RandomAccessFile, isPassedOver: Bool = false) -> (
    tags: [NamedTag], details: [ContainerDetail]
  ) {
    var found: (tags: [NamedTag], details: [ContainerDetail]) = ([], [])
    // The 128 bytes of ID3v1 may come behind it.
    let ends = [file.size, file.size - 128].filter { $0 >= 32 }
    guard let end = ends.first(where: { file.read($0 - 32..<$0 - 24) == Array("APETAGEX".utf8) }),
      let footer = file.read(end - 32..<end)
    else { return found }
    // The items and this footer.
    let size = footer[12..<16].littleEndian
    guard size >= 32, size <= min(end, largest), let items = file.read(end - size..<end - 32) else { return found }
    var rest = items[...]
    while rest.count > 8 {
      let (length, flags) = (rest.prefix(4).littleEndian, rest.dropFirst(4).prefix(4).littleEndian)
      let name = rest.dropFirst(8).prefix { $0 != 0 }
      rest = rest.dropFirst(8 + name.count + 1)
      guard length <= rest.count else { break }
      add(String(decoding: name, as: UTF8.self), rest.prefix(length), isText: flags & 6 != 2, isPassedOver, &found)
      rest = rest.dropFirst(length)
    }
    return found
  }

  /// Larger ones are damage.
  private static let largest = 1 << 26

  private static func add(
    _ name: String, _ value: ArraySlice<UInt8>, isText: Bool, _ isPassedOver: Bool,
    _ found: inout (tags: [NamedTag], details: [ContainerDetail])
  ) {
    guard isText else { return found.details.append(ContainerDetail(file: "the item \(name) of the APE tag")) }
    if !isPassedOver, known.contains(name.lowercased()) { return }
    for text in value.split(separator: 0) {
      found.tags.append(
        NamedTag(name: names[name.lowercased()] ?? name, text: String(decoding: text, as: UTF8.self)))
    }
  }

  /// `gst_ape_demux_get_gst_tag_from_tag`, but for the year, which has to be a whole date there.
  private static let known: Set = [
    "title", "artist", "album", "composer", "comment", "comments", "copyright", "genre", "isrc", "disc", "disk",
    "discnumber", "disknumber", "track", "tracknumber", "file", "replaygain_track_gain", "replaygain_track_peak",
    "replaygain_album_gain", "replaygain_album_peak",
  ]
  private static let names = [
    "track": "TRACKNUMBER", "disc": "DISCNUMBER", "disk": "DISCNUMBER", "disknumber": "DISCNUMBER",
    "comments": "COMMENT", "year": "DATE", "album artist": "ALBUMARTIST", "album_artist": "ALBUMARTIST",
    "bpm": "BEATS-PER-MINUTE",
  ]
}
