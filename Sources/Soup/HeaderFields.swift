/// Name of a header field; compared case-insensitively.
package struct FieldName: Sendable, Hashable, ExpressibleByStringLiteral {
  /// Spelling used on the wire.
  package let text: String
  private let key: String

  package init(_ text: String) { (self.text, key) = (text, text.lowercased()) }

  package init(stringLiteral text: String) { self.init(text) }

  package static func == (a: FieldName, b: FieldName) -> Bool { a.key == b.key }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }

  package static let acceptRanges: FieldName = "Accept-Ranges"
  package static let allow: FieldName = "Allow"
  package static let authorization: FieldName = "Authorization"
  package static let cacheControl: FieldName = "Cache-Control"
  package static let connection: FieldName = "Connection"
  package static let contentDisposition: FieldName = "Content-Disposition"
  package static let contentLength: FieldName = "Content-Length"
  package static let contentRange: FieldName = "Content-Range"
  package static let contentSecurityPolicy: FieldName = "Content-Security-Policy"
  package static let contentType: FieldName = "Content-Type"
  package static let cookie: FieldName = "Cookie"
  package static let eTag: FieldName = "ETag"
  package static let host: FieldName = "Host"
  package static let ifNoneMatch: FieldName = "If-None-Match"
  package static let ifRange: FieldName = "If-Range"
  package static let location: FieldName = "Location"
  package static let range: FieldName = "Range"
  package static let retryAfter: FieldName = "Retry-After"
  package static let setCookie: FieldName = "Set-Cookie"
  package static let transferEncoding: FieldName = "Transfer-Encoding"
  package static let wwwAuthenticate: FieldName = "WWW-Authenticate"
  package static let xContentTypeOptions: FieldName = "X-Content-Type-Options"
}

/// Header fields of a request or an answer, in order.
package struct HeaderFields: Sendable, ExpressibleByDictionaryLiteral {
  package struct Field: Sendable, Equatable {
    package var name: FieldName
    package var value: String
  }

  package private(set) var fields: [Field] = []

  package init() {}

  package init(dictionaryLiteral fields: (FieldName, String)...) {
    for (name, value) in fields { append(name, value) }
  }

  package mutating func append(_ name: FieldName, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Returns all values of a field.
  package func values(of name: FieldName) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// Value of a field; repeated fields are joined to a list (RFC 9110, 5.3). The setter replaces
  /// all fields with this name.
  package subscript(name: FieldName) -> String? {
    get {
      let values = values(of: name)
      return values.isEmpty ? nil : values.joined(separator: name == .cookie ? "; " : ", ")
    }
    set {
      fields.removeAll { $0.name == name }
      if let newValue { append(name, newValue) }
    }
  }
}
