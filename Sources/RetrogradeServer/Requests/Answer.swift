import Soup

/// Answer to a request: status, header fields and body. Independent of the transport.
struct Answer: Sendable {
  enum Body: Sendable {
    case bytes([UInt8])
    case stored(StoredBytes)
    /// Bytes that are still being produced.
    case begun(PartReader)

    /// Number of bytes; nil while unknown.
    var count: Int? {
      switch self {
      case .bytes(let bytes): bytes.count
      case .stored(let stored): stored.count
      case .begun: nil
      }
    }
  }

  var status = 200
  var fields: HeaderFields = [:]
  var body: Body = .bytes([])
  /// Range of the body to send; nil for the whole body.
  var range: Range<Int>?

  init(status: Int) { self.status = status }

  init(_ bytes: [UInt8], _ type: MediaType) {
    body = .bytes(bytes)
    fields[.contentType] = type.rawValue
  }

  init(_ text: String, _ type: MediaType) { self.init(Array(text.utf8), type) }

  init(_ stored: StoredBytes, _ type: MediaType) {
    body = .stored(stored)
    fields[.contentType] = type.rawValue
    fields[.eTag] = Answer.tag(stored)
  }

  init(_ found: PartCache.Found, _ type: MediaType) {
    switch found {
    case .whole(let stored): self.init(stored, type)
    case .begun(let reader):
      self.init(status: 200)
      body = .begun(reader)
      fields[.contentType] = type.rawValue
    }
  }

  /// Returns the complete answer; waits for all bytes that are still being produced.
  func whole() async throws -> Answer {
    guard case .begun(let reader) = body else { return self }
    var answer = self
    let stored = try await reader.whole()
    answer.body = .stored(stored)
    answer.fields[.eTag] = Answer.tag(stored)
    return answer
  }

  private static func tag(_ stored: StoredBytes) -> String { "\"\(String(stored.number, radix: 36))\"" }

  /// Returns an answer with an error status, and the reason as plain text.
  static func refusal(_ status: Int, _ reason: String) -> Answer {
    var answer = Answer(reason + "\n", .plain)
    answer.status = status
    answer.fields[.cacheControl] = "no-store"
    return answer
  }

  enum MediaType: String, Sendable {
    case html = "text/html; charset=utf-8"
    case plain = "text/plain; charset=utf-8"
    case json = "application/json"
    case playlist = "application/vnd.apple.mpegurl"
    case mp4 = "video/mp4"
    case audio = "audio/mp4"
    case subtitles = "text/vtt; charset=utf-8"
    case jpeg = "image/jpeg"
    case drawing = "image/svg+xml"
    case bytes = "application/octet-stream"
  }

  /// Sets the caching rule. Immutable content may be cached for a day; everything else must be
  /// revalidated.
  func kept(forever: Bool) -> Answer {
    var answer = self
    answer.fields[.cacheControl] = forever ? "private, max-age=86400, immutable" : "private, no-cache"
    return answer
  }

  /// Returns the answer adapted to the request: with the requested range, with status 304 if the
  /// client's copy is current, or with status 416 if the range does not exist.
  /// - Parameter field: returns the value of a header field of the request.
  func conditioned(_ field: (FieldName) -> String?) -> Answer {
    var answer = self
    guard answer.status == 200 else { return answer }
    answer.fields[.acceptRanges] = "bytes"
    if let tag = answer.fields[.eTag], let known = field(.ifNoneMatch), known == "*" || known.contains(tag) {
      answer.status = 304
      answer.body = .bytes([])
      return answer
    }
    guard let count = answer.body.count else { return answer }
    // A range of a changed file is useless, so the whole file is sent (RFC 9110, 13.1.5).
    if let known = field(.ifRange), known != answer.fields[.eTag] { return answer }
    switch ByteRange(field(.range), of: count) {
    case .all: break
    case .part(let range):
      answer.status = 206
      answer.range = range
      answer.fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
    case .unsatisfiable:
      answer = .refusal(416, "The requested range is outside the file.").secured()
      answer.fields[.contentRange] = "bytes */\(count)"
    }
    return answer
  }

  /// Adds the security headers, which stop browsers from misusing an answer.
  func secured(policy: String? = nil) -> Answer {
    var answer = self
    answer.fields[.xContentTypeOptions] = "nosniff"
    for (name, value) in Answer.security { answer.fields[name] = value }
    answer.fields[.contentSecurityPolicy] = policy ?? "default-src 'none'; frame-ancestors 'none'"
    return answer
  }

  private static let security: [(FieldName, String)] = [
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
  ]
}
