import Glibc

/// Files that hold no media, but say where it is: GStreamer would follow them, also into the network.
enum Playlist {
  /// - Throws: ``RetrogradeError`` of code `damagedInput`, where a file that begins so, and which people call `name`, is one.
  static func refuse(_ bytes: [UInt8], name: String) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    let beginning = text.drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    // HTTP Live Streaming (RFC 8216, 4.3.1.1), and MPEG-DASH (ISO/IEC 23009-1, 5.3.1.2).
    guard beginning.hasPrefix("#EXTM3U") || beginning.hasPrefix("<") && text.contains("<MPD") else { return }
    throw RetrogradeError(
      .damagedInput,
      about: name, "is a playlist: it holds no media, but names the files that do",
      remedy: "name one of those, or make one file of them "
        + "first, as with: ffmpeg -i \(name) -c copy video.mkv")
  }

  /// What to say of an input that is an address and no file; nil of others.
  static func address(_ input: String) -> RetrogradeError? {
    guard let match = input.prefixMatch(of: /([a-z][a-z0-9+.\-]*):\/\//.ignoresCase()) else { return nil }
    return match.1.lowercased() == "file"
      ? RetrogradeError(.noInput, about: input, "is an address", remedy: "name the file by its path alone")
      : RetrogradeError(
        .noInput,
        about: input, "is an address, and only files and pipes are read",
        remedy: "download it first, or pipe it in: curl -L "
          + "\(input) | retrograde reverse - out.mp4")
  }
}
