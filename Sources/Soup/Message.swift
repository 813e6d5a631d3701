import CSoup
import Glibc

/// Owner of a reference to a SoupServerMessage, which is a request and its answer.
///
/// Used on the loop's thread only.
final class Message {
  private let message: OpaquePointer

  init(retaining message: OpaquePointer) {
    self.message = message
    g_object_ref(UnsafeMutableRawPointer(message))
    // Discard request bodies as they arrive, and pieces of answers after they were sent.
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), 0)
    soup_message_body_set_accumulate(soup_server_message_get_response_body(message), 0)
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(message)) }

  /// Connects a C function to a signal of the message. The function must have the type that the
  /// signal requires.
  func connect(_ signal: String, _ function: GCallback, _ data: UnsafeMutableRawPointer) {
    g_signal_connect_data(
      UnsafeMutableRawPointer(message), signal, function, data, nil, GConnectFlags(rawValue: 0))
  }

  // MARK: - The request

  var isHTTP10: Bool { soup_server_message_get_http_version(message) == SOUP_HTTP_1_0 }

  /// True if the Content-Length is not a valid number. libsoup would wait for a body that has no
  /// known end.
  var hasBadLength: Bool {
    guard let headers = soup_server_message_get_request_headers(message),
      let length = soup_message_headers_get_one(headers, "Content-Length")
    else { return false }
    let digits = String(cString: length).utf8
    return !(1...18).contains(digits.count) || !digits.allSatisfy { (48...57).contains($0) }
  }

  /// Returns the request; nil if it is invalid (RFC 9112, 3.2 and 6.3). A valid request has exactly
  /// one Host (at most one in HTTP/1.0), at most one length, and not too many or too long fields.
  /// Its target is a path, a URL with the same host as in Host, or `*` for OPTIONS.
  func request() -> Request? {
    guard let method = soup_server_message_get_method(message),
      let headers = soup_server_message_get_request_headers(message),
      let uri = soup_server_message_get_uri(message)
    else { return nil }
    var request = Request(method: .init(rawValue: String(cString: method)), target: "*")
    var size = 0
    var iterator = SoupMessageHeadersIter()
    soup_message_headers_iter_init(&iterator, headers)
    var (name, value): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
    while soup_message_headers_iter_next(&iterator, &name, &value) != 0, let name, let value {
      request.fields.append(FieldName(String(cString: name)), String(cString: value))
      size += strlen(name) + strlen(value) + 4
    }
    guard size <= Message.mostHeaderBytes, request.fields.fields.count <= Message.mostFields else {
      return nil
    }
    let hosts = request.fields.values(of: .host)
    guard hosts.count <= 1, hosts.count == 1 || isHTTP10 else { return nil }
    let lengths = request.fields.values(of: .contentLength)
    let codings = request.fields.values(of: .transferEncoding)
    guard lengths.count + codings.count <= 1 else { return nil }
    guard soup_server_message_is_options_ping(message) == 0 else { return request }
    // An absolute target contains a host, which must be the same as in the Host field.
    guard g_uri_get_fragment(uri) == nil, let path = g_uri_get_path(uri),
      hosts.isEmpty || Message.host(hosts[0]).map({ $0 == Message.host(of: uri) }) ?? false
    else { return nil }
    request.target = String(cString: path)
    if let query = g_uri_get_query(uri) { request.target += "?" + String(cString: query) }
    return request
  }

  private static let mostHeaderBytes = 32 << 10
  private static let mostFields = 100

  private static func host(of uri: OpaquePointer) -> String? {
    guard let host = g_uri_get_host(uri) else { return nil }
    let port = g_uri_get_port(uri)
    return "\(String(cString: host).lowercased()):\(port < 0 ? 80 : port)"
  }

  /// Returns the host and port of a Host field, in the format of ``host(of:)``.
  private static func host(_ field: String) -> String? {
    // libsoup builds a URI from the field and the target, so the field must contain only a host.
    guard !field.utf8.contains(where: { $0 <= 32 || "/?#@\\".utf8.contains($0) }) else {
      return nil
    }
    let flags = GUriFlags(rawValue: G_URI_FLAGS_ENCODED.rawValue)
    guard let uri = g_uri_parse("http://\(field)/", flags, nil) else { return nil }
    defer { g_uri_unref(uri) }
    return host(of: uri)
  }

  // MARK: - The answer

  /// Stops libsoup's work on the message until ``resume()``.
  func pause() { soup_server_message_pause(message) }

  func resume() { soup_server_message_unpause(message) }

  /// Answers with a status and a line of text, then closes the connection.
  func refuse(_ status: Int, _ reason: String) {
    let body = Array((reason + "\n").utf8)
    setHead(
      ResponseHead(
        status: status,
        fields: [.contentType: "text/plain; charset=utf-8", .connection: "close"],
        body: .sized(body.count)))
    append(body)
  }

  func setHead(_ head: ResponseHead) {
    soup_server_message_set_status(message, UInt32(head.status), Message.phrases[head.status])
    guard let headers = soup_server_message_get_response_headers(message) else { return }
    for field in head.fields.fields {
      // libsoup refuses values with line breaks and logs a critical warning.
      guard !field.value.utf8.contains(where: { $0 < 32 }) else { continue }
      soup_message_headers_append(headers, field.name.text, field.value)
    }
    switch head.body {
    case .none(let length?), .sized(let length):
      soup_message_headers_set_content_length(headers, gint64(length))
    case .none(nil): soup_message_headers_set_encoding(headers, SOUP_ENCODING_NONE)
    // HTTP/1.0 has no chunked encoding, so closing the connection ends the body.
    case .chunked:
      soup_message_headers_set_encoding(
        headers, isHTTP10 ? SOUP_ENCODING_EOF : SOUP_ENCODING_CHUNKED)
    }
  }

  /// Reason phrases unknown to libsoup.
  private static let phrases = [421: "Misdirected Request"]

  func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, let copy = g_bytes_new(bytes, gsize(bytes.count)) else { return }
    soup_message_body_append_bytes(soup_server_message_get_response_body(message), copy)
    g_bytes_unref(copy)
  }

  /// Completes a chunked body.
  func complete() { soup_message_body_complete(soup_server_message_get_response_body(message)) }
}
