/// APEv2 tag after the last packet of a WavPack, True Audio or MP3 file ("APEv2 specification",
/// Hydrogenaudio).
enum APETag {
  /// Items of an APE tag. Text items become tags, named like the corresponding Vorbis comment if
  /// there is one. Other items become details.
  struct Items {
    /// Tags that apedemux ignores.
    var unread: [NamedTag] = []
    /// Tags that apedemux reads.
    var read: [NamedTag] = []
    var details: [ContainerDetail] = []
  }

  /// Reads the items of the tag.
  static func items(in file: RandomAccessFile) -> Items {
    var found = Items()
    // An ID3v1 tag of 128 bytes may follow the APE tag.
    let ends = [file.size, file.size - 128].filter { $0 >= 32 }
    guard let end = ends.first(where: { file.read($0 - 32..<$0 - 24) == Array("APETAGEX".utf8) }),
      let footer = file.read(end - 32..<end)
    else { return found }
    // The size in the footer includes the items and the footer.
    let size = footer[12..<16].littleEndian
    guard size >= 32, size <= min(end, largest), let items = file.read(end - size..<end - 32) else { return found }
    var rest = items[...]
    while rest.count > 8 {
      let (length, flags) = (rest.prefix(4).littleEndian, rest.dropFirst(4).prefix(4).littleEndian)
      let name = rest.dropFirst(8).prefix { $0 != 0 }
      rest = rest.dropFirst(8 + name.count + 1)
      guard length <= rest.count else { break }
      add(String(decoding: name, as: UTF8.self), rest.prefix(length), isText: flags & 6 != 2, &found)
      rest = rest.dropFirst(length)
    }
    return found
  }

  /// Returns the reason to refuse a file whose APE tag would make apedemux abort the process; nil
  /// for other files. apedemux adds 32 to the tag's size in 32 bits, and asserts that the sum is at
  /// least 32 (`gst_tag_demux_pull_end_tag`, 1.22 to 1.29). Files of all types are checked, because
  /// the typefinder of apedemux has a higher rank than those of media types.
  static func fault(in file: RandomAccessFile) -> String? {
    var media = 0..<file.size
    // Each iteration skips the tags that one id3demux or apedemux would skip. The limit bounds the
    // time; a valid file has far fewer tags.
    for _ in 0..<1000 {
      let first = file.read(media.lowerBound..<min(media.lowerBound + 32, media.upperBound)) ?? []
      let last = media.count < 32 ? [] : file.read(media.upperBound - 32..<media.upperBound) ?? []
      let hasID3v1 = media.count >= 128 && file.text(at: media.upperBound - 128)?.hasPrefix("TAG") == true
      var (start, end) = (media.lowerBound, media.upperBound)
      if let size = ID3Tag.size(first) {
        start += size
        if hasID3v1 { end -= 128 }
      } else if isTag(first) || isTag(last) {
        for tag in [first, last] where isTag(tag) {
          let size = tag[12..<16].littleEndian
          if size + 32 > UInt32.max { return "its APE tag declares a size of \(size) bytes" }
        }
        if isTag(first) { start += first[12..<16].littleEndian + 32 }
        if isTag(last) {
          let size = last[12..<16].littleEndian
          let hasHeader = file.read(end - size - 32..<end - size).map(isTag) ?? false
          end -= hasHeader || size == 0 ? size + 32 : size
        }
      } else if hasID3v1 {
        end -= 128
      }
      guard start <= end, start..<end != media else { break }
      media = start..<end
    }
    return nil
  }

  private static func isTag(_ bytes: [UInt8]) -> Bool { bytes.count == 32 && bytes.starts(with: "APETAGEX".utf8) }

  /// Maximum size of a tag in bytes; a larger value is treated as damage.
  private static let largest = 1 << 26

  private static func add(_ name: String, _ value: ArraySlice<UInt8>, isText: Bool, _ found: inout Items) {
    guard isText else { return found.details.append(ContainerDetail(file: "the item \(name) of the APE tag")) }
    let list: WritableKeyPath<Items, [NamedTag]> = known.contains(name.lowercased()) ? \.read : \.unread
    for text in value.split(separator: 0) {
      found[keyPath: list].append(
        NamedTag(name: names[name.lowercased()] ?? name, text: String(decoding: text, as: UTF8.self)))
    }
  }

  /// Names of items that apedemux reads (`gst_ape_demux_get_gst_tag_from_tag`). `year` is not in
  /// the list, because apedemux accepts only a full date.
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
