/// Access control: checks the Host header, the site of the requesting page, and the token.
struct Guard: Sendable {
  /// Required token; nil if clients need no token.
  let token: String?
  /// Loopback address at which the server listens; nil if the server listens at another address.
  /// The Host header of requests must name this address, or another loopback name of this machine.
  let loopback: String?

  /// Name of the cookie that contains the token.
  static let cookie = "retrograde-token"

  enum Answer: Equatable, Sendable {
    case granted
    /// Granted by the token in the query: addresses in the answer need the token too, and a cookie
    /// is set.
    case grantedByQuery
    case refused(Int, String)
  }

  /// - Parameters:
  ///   - isPage: true if `path` names an HTML page.
  ///   - field: returns a header field by its lower-case name.
  func check(_ path: RequestPath, isPage: Bool, _ field: (String) -> String?) -> Answer {
    // Blocks DNS rebinding, because a name that was redirected to this machine still appears in
    // Host.
    if let loopback, !Guard.isName(field("host") ?? "", of: loopback) {
      return .refused(421, "This server answers only under the names \(loopback) and localhost.")
    }
    guard isPage && Guard.isNavigation(field) || Guard.isOwn(field) else {
      return .refused(403, "Pages of other sites may only link to this server's pages, not load anything from them.")
    }
    guard let token else { return .granted }
    if let given = path.query["token"], Guard.isSame(given, token) { return .grantedByQuery }
    if let given = Guard.value(of: Guard.cookie, in: field("cookie") ?? ""), Guard.isSame(given, token.percentEncoded) {
      return .granted
    }
    if let given = Guard.bearer(field("authorization") ?? ""), Guard.isSame(given, token) { return .granted }
    return .refused(401, "This server requires a token: open the URL that `retrograde serve` printed.")
  }

  /// True if a browser opens the address in a window of its own, as for a link, and not in a frame,
  /// `<object>` or `<embed>` of another page (https://www.w3.org/TR/fetch-metadata/).
  private static func isNavigation(_ field: (String) -> String?) -> Bool {
    field("sec-fetch-mode") == "navigate" && field("sec-fetch-dest") == "document" && field("origin") == nil
  }

  /// True if the request comes from a page of this server, from a typed address, or from a program
  /// that is not a browser. The same host at another port is `same-site`, which is not enough.
  private static func isOwn(_ field: (String) -> String?) -> Bool {
    if let site = field("sec-fetch-site"), site != "same-origin", site != "none" { return false }
    // Some browsers never send Sec-Fetch-Site, or send it only to local addresses. They send Origin
    // with some requests, so check Origin too.
    guard let origin = field("origin")?.lowercased() else { return true }
    let host = field("host")?.lowercased() ?? ""
    return [("http://", ":80"), ("https://", ":443")].contains { scheme, port in
      [host, host + port].contains { scheme + $0 == origin || scheme + $0 == origin + port }
    }
  }

  /// True if a Host field, with or without a port, is the loopback address or another usual name of
  /// this machine.
  static func isName(_ host: String, of loopback: String) -> Bool {
    var name = host.lowercased()[...]
    if let colon = name.lastIndex(of: ":"), !name.hasSuffix("]") {
      guard name[name.index(after: colon)...].utf8.allSatisfy({ (48...57).contains($0) }) else { return false }
      name = name[..<colon]
    }
    return ["localhost", "127.0.0.1", "[::1]", loopback].contains(String(name))
  }

  /// Compares two texts in constant time.
  static func isSame(_ a: String, _ b: String) -> Bool {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    var difference = UInt8(truncatingIfNeeded: a.count == b.count ? 0 : 1)
    for (number, byte) in b.enumerated() { difference |= byte ^ (number < a.count ? a[number] : 0) }
    return difference == 0
  }

  private static func value(of name: String, in field: String) -> String? {
    for pair in field.split(separator: ";") {
      let pair = pair.drop { $0 == " " }
      if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.count + 1)) }
    }
    return nil
  }

  private static func bearer(_ field: String) -> String? {
    field.lowercased().hasPrefix("bearer ") ? String(field.dropFirst(7)) : nil
  }
}
