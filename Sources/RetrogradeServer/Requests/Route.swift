import MediaTime

/// Resource that a path names.
enum Route: Equatable, Sendable {
  /// File list, or the page of the only file.
  case start
  /// Playlist of the only file.
  case playlist
  /// Player page of a file.
  case page(file: String)
  /// Thumbnail of a file, for lists.
  case picture(file: String)
  case stream(file: String, StreamName, StreamPart)

  /// True for an HTML page, which needs no decoding or encoding.
  var isPage: Bool {
    switch self {
    case .start, .page: true
    case .playlist, .picture, .stream: false
    }
  }

  /// - Returns: nil if the path names no resource.
  init?(_ path: RequestPath) {
    let parts = path.parts
    if let own: Route = [[""]: .start, ["master.m3u8"]: .playlist][parts] {
      self = own
      return
    }
    guard let file = parts.first, FileID.isPossible(file) else { return nil }
    switch parts.dropFirst() {
    case [""]: self = .page(file: file)
    case ["picture.jpg"]: self = .picture(file: file)
    case ["master.m3u8"]: self = .stream(file: file, .usual, .master(prefix: StreamName.usual.text + "/"))
    default:
      guard parts.count > 2, let name = StreamName(parts[1]), let part = StreamPart(Array(parts.dropFirst(2))) else {
        return nil
      }
      self = .stream(file: file, name, part)
    }
  }
}

/// Resource of a stream: a playlist, a download, or data for the player.
enum StreamPart: Equatable, Sendable {
  /// Master playlist (HLS).
  /// - Parameter prefix: path of the stream, relative to the playlist; each address in the playlist
  ///   begins with it.
  case master(prefix: String)
  /// Data for the player page.
  case info
  /// Download of the stream or of a part of it.
  case download
  /// Command that produces the same file as the download.
  case command
  /// Data that never changes for the same version (``OpenStream/version``).
  case made(version: String, PartID)

  init?(_ parts: [String]) {
    switch parts {
    case ["master.m3u8"]: self = .master(prefix: "")
    case ["info.json"]: self = .info
    case ["mirror"]: self = .download
    case ["command.json"]: self = .command
    default:
      guard parts.count > 1, parts[0].count == StreamPart.versionLength, parts[0].utf8.allSatisfy(\.isLowerHexDigit),
        let part = PartID(Array(parts.dropFirst()))
      else { return nil }
      self = .made(version: parts[0], part)
    }
  }

  /// Number of hexadecimal digits in a version.
  static let versionLength = 12
}

enum PartID: Hashable, Sendable {
  case playlist(rendition: String)
  case initialization(rendition: String)
  /// Media segment, from its fragment `from` on.
  case segment(Int, from: Int, rendition: String)
  case subtitlePlaylist(Int)
  case subtitles(Int)
  case chapters
  case waveform
  /// Start times of the frames.
  case frames
  /// JPEG image of the frame at this time of the output, in milliseconds.
  case picture(Int)

  init?(_ parts: [String]) {
    guard let last = parts.last else { return nil }
    switch (parts.first ?? "", parts.count) {
    case ("chapters.json", 1): self = .chapters
    case ("waveform.json", 1): self = .waveform
    case ("frames.bin", 1): self = .frames
    case ("pictures", 2):
      guard let time = Int(numbered: last, ".jpg") else { return nil }
      self = .picture(time)
    case ("subtitles", 2):
      if let number = Int(numbered: last, ".m3u8") {
        self = .subtitlePlaylist(number)
      } else if let number = Int(numbered: last, ".vtt") {
        self = .subtitles(number)
      } else {
        return nil
      }
    case (let rendition, 2):
      switch last {
      case "media.m3u8": self = .playlist(rendition: rendition)
      case "init.mp4": self = .initialization(rendition: rendition)
      default:
        let ends = last.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let number = Int(numbered: last, ".m4s") {
          self = .segment(number, from: 0, rendition: rendition)
        } else if ends.count == 2, let number = Int(numbered: ends[0], ""), let piece = Int(numbered: ends[1], ".m4s"),
          piece > 0
        {
          self = .segment(number, from: piece, rendition: rendition)
        } else {
          return nil
        }
      }
    default: return nil
    }
  }

  /// Path of the part, after the version of the stream. Version and path are the key in the cache.
  var name: String {
    switch self {
    case .playlist(let rendition): "\(rendition)/media.m3u8"
    case .initialization(let rendition): "\(rendition)/init.mp4"
    case .segment(let number, let piece, let rendition):
      "\(rendition)/\(number)\(piece > 0 ? "-\(piece)" : "").m4s"
    case .subtitlePlaylist(let number): "subtitles/\(number).m3u8"
    case .subtitles(let number): "subtitles/\(number).vtt"
    case .chapters: "chapters.json"
    case .waveform: "waveform.json"
    case .frames: "frames.bin"
    case .picture(let time): "pictures/\(time).jpg"
    }
  }
}

extension Int {
  /// Parses the number before a file extension: up to nine decimal digits, without leading zeros.
  fileprivate init?(numbered name: String, _ ending: String) {
    guard name.hasSuffix(ending) else { return nil }
    let digits = name.dropLast(ending.count)
    guard (1...9).contains(digits.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
      digits.count == 1 || digits.first != "0"
    else { return nil }
    self.init(digits)
  }
}

extension UInt8 {
  fileprivate var isLowerHexDigit: Bool { (48...57).contains(self) || (97...102).contains(self) }
}
