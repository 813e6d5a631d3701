import RetrogradeEngine
import Soup

/// Sends an answer in pieces, at the client's speed.
struct PacedBody: Sendable {
  let exchange: Exchange

  /// Size of a piece in bytes. Stored parts are read and sent one piece at a time.
  static let piece = 256 << 10

  /// Sends the head and the body of an answer.
  ///
  /// - Throws: `CancellationError` if the client disconnected or timed out, or the error that ended
  ///   the production of a part.
  func send(_ answer: Answer) async throws {
    let isHead = exchange.request.method == .head
    if case .begun(let reader) = answer.body, !isHead {
      exchange.begin(ResponseHead(status: answer.status, fields: answer.fields, body: .chunked))
      return try await send(reader)
    }
    let range = answer.range ?? 0..<(answer.body.count ?? 0)
    let length = answer.status == 304 ? nil : range.count
    let isEmpty = isHead || range.isEmpty || answer.status == 304
    exchange.begin(
      ResponseHead(
        status: answer.status, fields: answer.fields,
        body: isEmpty ? .none(length: length) : .sized(range.count)))
    if !isEmpty { try await send(answer.body, range) }
  }

  private func send(_ body: Answer.Body, _ range: Range<Int>) async throws {
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(start + PacedBody.piece, range.upperBound)
      try await exchange.write(try await PacedBody.bytes(of: body, start..<end))
      start = end
    }
  }

  /// Sends a part while it is being produced.
  private func send(_ reader: PartReader) async throws {
    defer { reader.leave() }
    var count = 0
    while true {
      switch try await reader.more(after: count) {
      case .bytes(let bytes):
        try await exchange.write(bytes)
        count += bytes.count
      case .whole(let stored):
        try await send(.stored(stored), count..<stored.count)
        return exchange.finish()
      }
    }
  }

  private static func bytes(of body: Answer.Body, _ range: Range<Int>) async throws -> [UInt8] {
    switch body {
    case .bytes(let bytes): Array(bytes[range])
    case .stored(let stored): try await onOwnThread("read", Cancellation()) { try stored.read(range) }
    case .begun: []
    }
  }
}
