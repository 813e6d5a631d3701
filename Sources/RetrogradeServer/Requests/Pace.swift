import Hummingbird
import NIOCore
import RetrogradeEngine

/// How an answer is written: in pieces, so that memory holds no more than some of it, and only as long as the client takes them.
struct Pace: Sendable {
  let channel: any Channel
  /// nil where it is no longer connected.
  let client: Client?
  /// In which a piece has to be taken.
  let patience: Duration

  /// In bytes.
  static let piece = 256 << 10

  func write(_ body: Answer.Body, _ range: Range<Int>, to writer: inout any ResponseBodyWriter) async throws {
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(start + Pace.piece, range.upperBound)
      try await write(try await Pace.bytes(of: body, start..<end), to: &writer)
      start = end
    }
  }

  /// Writes what is being made as it comes. Where that fails, so does this: what came of it is not taken for all.
  func write(_ reader: PartReader, to writer: inout any ResponseBodyWriter) async throws {
    let number = client?.onHangup { reader.leave() }
    defer {
      number.map { client?.forget($0) }
      reader.leave()
    }
    var count = 0
    while true {
      switch try await reader.more(after: count) {
      case .bytes(let bytes):
        try await write(bytes, to: &writer)
        count += bytes.count
      case .whole(let stored):
        return try await write(.stored(stored), count..<stored.count, to: &writer)
      }
    }
  }

  private func write(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter) async throws {
    let timeout = channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { [channel] in
      channel.close(promise: nil)
    }
    defer { timeout.cancel() }
    try await writer.write(ByteBuffer(bytes: bytes))
  }

  private static func bytes(of body: Answer.Body, _ range: Range<Int>) async throws -> [UInt8] {
    switch body {
    case .bytes(let bytes): Array(bytes[range])
    case .stored(let stored): try await onOwnThread("read", Cancellation()) { try stored.read(range) }
    case .begun: []
    }
  }
}

extension Answer {
  func response(isHead: Bool, pace: Pace) -> Response {
    var fields = fields
    if case .begun(let reader) = body {
      // Its length is not known: it comes in chunks.
      return Response(
        status: .init(code: status), headers: fields,
        body: ResponseBody { writer in
          try await pace.write(reader, to: &writer)
          try await writer.finish(nil)
        })
    }
    let range = range ?? 0..<(body.count ?? 0)
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
