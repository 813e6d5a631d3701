import GStreamer
import MediaTime
import RetrogradeEngine

/// A file of one stream's packets as GStreamer writes them down, with their caps and their times to the nanosecond (`gdppay`): no
/// container holds every codec, and most round times.
struct PacketFile: Sendable {
  let path: String

  /// Elements that write such a file, in `gst-launch-1.0` syntax.
  static let writing = ["gdppay", "filesink name=file"]

  /// - Parameter target: the file that it is read for, in messages.
  func open(for target: String) throws -> PacketStream {
    try PacketStream("filesrc location=\(Description.quoted(path)) ! gdpdepay", target)
  }

  /// Content of the file.
  struct Content: Sendable, Codable, Equatable {
    /// How many packets there are that are shown or heard, each at a time of its own.
    var packets: Int
    /// How many of them come, at the most, before one that is shown before them.
    var reordering: Int
    var caps: String
  }

  /// Reads all of it.
  func content(for target: String, _ cancellation: Cancellation) throws -> Content {
    let stream = try open(for: target)
    defer { stream.stop() }
    var times: [ClockTime] = []
    var caps: Caps?
    while let sample = try stream.next(cancellation) {
      caps = caps ?? sample.caps
      guard let time = sample.streamTime, !sample.buffer.isDecodedOnly, time != times.last else { continue }
      times.append(time)
    }
    return Content(packets: times.count, reordering: DTSGenerator.depth(times), caps: caps?.description ?? "")
  }
}
