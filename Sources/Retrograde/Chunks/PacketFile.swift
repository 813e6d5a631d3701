import GStreamer
import MediaTime
import RetrogradeEngine

/// File of one stream's packets, with caps and nanosecond timestamps, in GStreamer's own format
/// (`gdppay`). A container would not suffice, because no container supports every codec, and most
/// containers round timestamps.
struct PacketFile: Sendable {
  let path: String

  /// GStreamer elements that write a packet file, in `gst-launch-1.0` syntax.
  static let writing = ["gdppay", "filesink name=file"]

  /// - Parameter target: path of the output that will contain the packets, for error messages.
  func open(for target: String) throws -> PacketStream {
    try PacketStream("filesrc location=\(Description.quoted(path)) ! gdpdepay", target)
  }

  /// Content of the file.
  struct Content: Sendable, Codable, Equatable {
    /// Number of packets that are shown or played; consecutive packets with the same timestamp
    /// count once.
    var packets: Int
    /// Reordering depth: largest number of packets that come before a packet but have a later PTS.
    var reordering: Int
    var caps: String
  }

  /// Reads the complete file, to count its packets.
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
