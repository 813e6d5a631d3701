/// An HTTP request without its body.
package struct Request: Sendable {
  package struct Method: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package init(stringLiteral text: String) { rawValue = text }

    package static let get: Method = "GET"
    package static let head: Method = "HEAD"
    package static let post: Method = "POST"
    package static let put: Method = "PUT"
    package static let delete: Method = "DELETE"
    package static let options: Method = "OPTIONS"
  }

  package var method: Method
  /// Undecoded path and query.
  package var target: String
  package var fields: HeaderFields

  package init(method: Method = .get, target: String, fields: HeaderFields = [:]) {
    (self.method, self.target, self.fields) = (method, target, fields)
  }
}

/// Status and header fields of an answer, and how its body is framed.
package struct ResponseHead: Sendable {
  package enum Body: Sendable, Equatable {
    /// No body. `length`: value of Content-Length, such as the size of the file in the answer to a
    /// HEAD request; nil omits the field.
    case none(length: Int?)
    /// Body of a known length in bytes.
    case sized(Int)
    /// Chunked body of unknown length.
    case chunked
  }

  package var status: Int
  package var fields: HeaderFields
  package var body: Body

  package init(status: Int, fields: HeaderFields, body: Body) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }
}
