import Hummingbird
import NIOCore
import RetrogradeEngine

/// How an answer is written: in pieces, so that memory holds no more than some of it, and only as long as the client takes them.
struct Pace: Sendable {
  let channel: any Channel
  /// In which a piece has to be taken.
  let patience: Duration

  /// In bytes.
  static let piece = 256 << 10

  func write(_ body: Answer.Body, _ range: Range<Int>, to writer: inout any ResponseBodyWriter) async throws {
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(start + Pace.piece, range.upperBound)
      let bytes = try await Pace.bytes(of: body, start..<end)
      let timeout = channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { [channel] in
        channel.close(promise: nil)
      }
      defer { timeout.cancel() }
      try await writer.write(ByteBuffer(bytes: bytes))
      start = end
    }
  }

  private static func bytes(of body: Answer.Body, _ range: Range<Int>) async throws -> [UInt8] {
    switch body {
    case .bytes(let bytes): Array(bytes[range])
    case .stored(let stored): try await onOwnThread("read", Cancellation()) { try stored.read(range) }
    }
  }
}

extension Answer {
  func response(isHead: Bool, pace: Pace) -> Response {
    let range = range ?? 0..<body.count
    var fields = fields
    if status != 304 { fields[.contentLength] = "\(range.count)" }
    let response = Response(
      status: .init(code: status), headers: fields,
      body: isHead || range.isEmpty
        ? ResponseBody()
        : ResponseBody(contentLength: range.count) { [body] writer in
          try await pace.write(body, range, to: &writer)
          try await writer.finish(nil)
        })
    return response
  }
}
