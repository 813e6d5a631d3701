import FoundationEssentials
import Glibc
import MediaTime
import RetrogradeEngine
import Paths

/// Log of the work on a plan's chunks: a file with one line per event. Each line is synced to disk
/// before the process that adds the event continues.
final class Journal: Sendable {
  /// Size and checksum of a chunk's file.
  struct File: Codable, Sendable, Equatable {
    var bytes: Int
    /// SHA-256, in hexadecimal digits.
    var digest: String
  }

  /// Facts about an encoded audio stream.
  struct AudioFacts: Codable, Sendable {
    /// Number of sample frames pushed into the encoder.
    var samples: Int
    /// Start and end of the audio in the output.
    var span: TimeSpan?
    var priming: AudioPriming
    /// Timestamp in the chunk's file that corresponds to time 0 of the output.
    var origin: ClockTime
  }

  struct Event: Codable, Sendable {
    enum Kind: String, Codable, Sendable {
      /// A process started the chunk.
      case begun
      case done
      case failed
      /// The chunk's file is missing or was changed.
      case lost
      /// The output is complete, and is about to be renamed.
      case joined
    }
    var event: Kind
    /// Number of the chunk; nil for an event that concerns all chunks.
    var chunk: Int?
    var host: String
    var process: Int32
    /// Seconds since 1970.
    var time: Double
    var file: File?
    var content: PacketFile.Content?
    var heard: AudioFacts?
    /// Time taken to make the chunk, in seconds.
    var seconds: Double?
    var reason: String?
    var warnings: [Notice]?
    var output: FileStamp?
    var subtitles: FileStamp?

    init(_ event: Kind, _ chunk: Int? = nil) {
      self.event = event
      self.chunk = chunk
      host = Journal.host
      process = getpid()
      time = Date().timeIntervalSince1970
    }
  }

  private let path: String
  private let locks: FileLocks

  /// - Parameter locks: locks of the work folder. One of the locks is held while a line is written.
  init(_ path: String, _ locks: FileLocks) {
    self.path = path
    self.locks = locks
  }

  private static let host = {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }()

  /// Adds a line. If a dead process left an incomplete line, adds a line break first.
  func add(_ event: Event, lock: Int, _ cancellation: Cancellation = Cancellation()) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard var line = try? Array(encoder.encode(event)) else {
      throw RetrogradeError(
        .internalFailure, about: path, "the event `\(event.event.rawValue)` can't be encoded as JSON")
    }
    line.append(UInt8(ascii: "\n"))
    let held = try locks.wait(for: lock, cancellation)
    defer { withExtendedLifetime(held) {} }
    let file = open(path.cPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw failure }
    defer { close(file) }
    let end = lseek(file, 0, SEEK_END)
    var last = UInt8(ascii: "\n")
    if end > 0, pread(file, &last, 1, end - 1) == 1, last != UInt8(ascii: "\n") {
      line.insert(UInt8(ascii: "\n"), at: 0)
    }
    let written = pwrite(file, line, line.count, max(end, 0))
    guard written == line.count, fsync(file) == 0 else {
      let reason = failure
      // Remove the incomplete line, because the next line would be appended to it.
      if end >= 0 { ftruncate(file, end) }
      throw reason
    }
  }

  /// Reads the events from byte `start` on. Skips incomplete and unknown lines.
  /// - Returns: the events, and the position of the next event in the file.
  func events(from start: Int = 0) throws -> (events: [Event], end: Int) {
    let file = open(path.cPath, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return ([], 0) }
      throw failure
    }
    defer { close(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    var place = start
    while true {
      let count = pread(file, &block, block.count, place)
      guard count >= 0 else { throw failure }
      if count == 0 { break }
      bytes += block[..<count]
      place += count
    }
    guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return ([], start) }
    let decoder = JSONDecoder()
    let events = bytes[...last].split(separator: UInt8(ascii: "\n")).compactMap {
      try? decoder.decode(Event.self, from: Data($0))
    }
    return (events, start + last + 1)
  }

  private var failure: RetrogradeError {
    RetrogradeError(
      errno == ENOENT ? .noInput : .inputOutput,
      about: path, "\(String(cString: strerror(errno)))", remedy: errno == ENOSPC ? "free some space" : nil)
  }
}
