import Foundation
import Retrograde
import TestSupport
import Testing

@testable import RetrogradeServer

/// Requests that are accepted, and requests that are refused.
@Suite struct RequestTests {
  @Test(
    "a path is split at slashes, and each name is decoded once",
    arguments: [
      ("/", [""]), ("/a/", ["a", ""]), ("/a/b.m4s?x=1", ["a", "b.m4s"]), ("/%41%c3%a4", ["Aä"]),
      ("/a:b,c@d", ["a:b,c@d"]),
    ])
  func pathParts(path: String, parts: [String]) { #expect(RequestPath(path)?.parts == parts) }

  @Test(
    "an invalid path is refused",
    arguments: [
      "", "a", "*", "http://127.0.0.1/", "//", "/a//b", "/..", "/a/../b", "/%2e%2e/a", "/%2E/a", "/a%2fb", "/a%5Cb",
      "/a\\b", "/a%00", "/a%0a",
      "/%zz", "/%4", "/%", "/%c3", "/%ff%fe", "/\u{e4}", "/a b", "/a#b", "/a?x=%", "/a?x=%00", "/<script>", "/\"",
      "/" + String(repeating: "a", count: 4096),
    ])
  func invalidPath(path: String) { #expect(RequestPath(path) == nil) }

  @Test("if a query repeats a name, the first value counts")
  func query() {
    #expect(RequestPath("/?a=1&b=%3D%26&a=2&c&&d=x=y")?.query == ["a": "1", "b": "=&", "c": "", "d": "x=y"])
  }

  /// Random paths. No component of an accepted path is `.` or `..`, or contains a slash,
  /// a backslash or NUL. Encoding the components again gives a path with the same components.
  @Test("no path leads out of the folder")
  func randomPaths() {
    var random = SeededGenerator(15)
    let pieces = [
      "/", "..", ".", "%2e", "%2f", "%5c", "\\", "a", "etc", "passwd", "%00", "%", "?", "&", "=", "token", "%c0%af",
      "%e0%80%af", "master.m3u8", "init.mp4",
      "0.m4s", "00.m4s", "-1.m4s", "99999999999.m4s", "usual", "reverse", "0..end", "x0.5", ", ", "%20",
      "film-01234567", "0123456789ab", "540", "\u{202e}", "ü",
      "subtitles", "0.vtt", "pictures", "12.jpg", "\r\n", "\u{0}", ";", ":", "//",
    ]
    for _ in 0..<20_000 {
      let path = (0..<Int.random(in: 1...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined(
          separator: Bool.random(using: &random) ? "/" : "")
      guard let known = RequestPath("/" + path) else { continue }
      for part in known.parts {
        #expect(part != ".." && part != "." && !part.contains("/") && !part.contains("\\") && !part.utf8.contains(0))
      }
      let again = RequestPath("/" + known.parts.map(\.percentEncoded).joined(separator: "/"))
      #expect(again?.parts == known.parts)
      if case .stream(let file, let name, _)? = Route(known) {
        #expect(FileID.isPossible(file))
        #expect(StreamName(name.text) == name)
      }
    }
  }

  @Test("a path leads to one route, or is refused")
  func routes() {
    let expected: [(String, Route?)] = [
      ("/", .start), ("/master.m3u8", .playlist), ("/film-01234567/", .page(file: "film-01234567")),
      ("/film-01234567", nil),
      ("/film-01234567/picture.jpg", .picture(file: "film-01234567")),
      ("/film-01234567/master.m3u8", .stream(file: "film-01234567", .usual, .master(prefix: "usual/"))),
      ("/film-01234567/ping-pong/master.m3u8", .stream(file: "film-01234567", .loop(.pingPong), .master(prefix: ""))),
      ("/film-01234567/0..4%20x0.50/info.json", .stream(file: "film-01234567", .score("0..4 x0.5"), .info)),
      ("/film-01234567/sideways/info.json", nil), ("/Film-01234567/usual/info.json", nil),
      (
        "/film-01234567/usual/0123456789ab/540/12.m4s",
        .stream(file: "film-01234567", .usual, .made(version: "0123456789ab", .segment(12, from: 0, rendition: "540")))
      ),
      (
        "/film-01234567/usual/0123456789ab/540/12-7.m4s",
        .stream(file: "film-01234567", .usual, .made(version: "0123456789ab", .segment(12, from: 7, rendition: "540")))
      ),
      ("/film-01234567/usual/0123456789ab/540/12-0.m4s", nil), ("/film-01234567/usual/0123456789ab/540/12-07.m4s", nil),
      ("/film-01234567/usual/0123456789ab/540/12-7-1.m4s", nil), ("/film-01234567/usual/0123456789ab/540/12-.m4s", nil),
      ("/film-01234567/usual/0123456789ab/540/012.m4s", nil), ("/film-01234567/usual/0123456789ab/540/-1.m4s", nil),
      ("/film-01234567/usual/0123456789AB/540/1.m4s", nil), ("/film-01234567/usual/0123456789ab/540/1.m4s/", nil),
      (
        "/film-01234567/usual/0123456789ab/subtitles/0.vtt",
        .stream(file: "film-01234567", .usual, .made(version: "0123456789ab", .subtitles(0)))
      ),
      (
        "/film-01234567/usual/0123456789ab/pictures/1500.jpg",
        .stream(file: "film-01234567", .usual, .made(version: "0123456789ab", .picture(1500)))
      ),
    ]
    for (path, route) in expected { #expect(RequestPath(path).flatMap(Route.init) == route, "\(path)") }
  }

  @Test(
    "a byte range is used only if it is valid",
    arguments: [
      (nil, .all), ("bytes=0-", .part(0..<100)), ("bytes=10-19", .part(10..<20)), ("bytes=90-1000", .part(90..<100)),
      ("bytes=-5", .part(95..<100)),
      ("bytes=-500", .part(0..<100)), ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=5-4", .all),
      ("bytes=0-1,3-4", .all), ("lines=1-2", .all),
      ("bytes=a-b", .all), ("bytes=--1", .all), ("bytes=99999999999999999999-", .all),
      ("bytes=0-999999999999999999", .part(0..<100)),
    ] as [(String?, ByteRange)])
  func byteRange(field: String?, range: ByteRange) { #expect(ByteRange(field, of: 100) == range) }

  @Test("only requests to the names of this machine are answered")
  func hostNames() {
    let door = Guard(token: nil, loopback: "127.0.0.1")
    for host in ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "[::1]", "[::1]:8080", "LocalHost"] {
      #expect(door.check(path, ["host": host]) == .granted, "\(host)")
    }
    for host in [
      "", "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost:80:80", "localhost:x", "[::1",
      "::1",
    ] {
      guard case .refused(421, _) = door.check(path, ["host": host]) else {
        Issue.record("\(host)")
        continue
      }
    }
    let other = Guard(token: nil, loopback: "127.0.0.2")
    #expect(other.check(path, ["host": "127.0.0.2:8080"]) == .granted)
    #expect(other.check(path, ["host": "127.0.0.3:8080"]) != .granted)
    #expect(Guard(token: nil, loopback: nil).check(path, ["host": "films.example"]) == .granted)
  }

  /// Fetch metadata headers (`Sec-Fetch-*`) that Chromium sends for requests by other pages.
  private static let foreign: [(site: String, mode: String, destination: String)] = [
    ("cross-site", "navigate", "iframe"), ("cross-site", "navigate", "frame"), ("cross-site", "navigate", "object"),
    ("cross-site", "navigate", "embed"), ("cross-site", "no-cors", "image"), ("cross-site", "no-cors", "video"),
    ("cross-site", "cors", "empty"), ("same-site", "navigate", "iframe"), ("same-site", "no-cors", "script"),
    ("same-site", "cors", "empty"),
  ]

  @Test("pages of other sites or ports may link to the server's pages, but nothing else", arguments: foreign)
  func foreignPage(site: String, mode: String, destination: String) {
    let door = Guard(token: nil, loopback: "127.0.0.1")
    let fields = [
      "host": "localhost", "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination,
    ]
    for isPage in [true, false] {
      guard case .refused(403, _) = door.check(path, isPage: isPage, { fields[$0] }) else {
        Issue.record("\(site) \(mode) \(destination), page: \(isPage)")
        continue
      }
    }
    let link = fields.merging(["sec-fetch-mode": "navigate", "sec-fetch-dest": "document"]) { $1 }
    #expect(door.check(path, isPage: true) { link[$0] } == .granted)
    #expect(door.check(path, isPage: false) { link[$0] } != .granted, "a link does not start a reversal")
  }

  @Test(
    "requests by the server's pages, by users and by other programs are answered",
    arguments: [
      [:], ["sec-fetch-site": "same-origin", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "video"],
      ["sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"],
      ["origin": "http://localhost"], ["origin": "HTTP://LOCALHOST:80"],
    ])
  func ownPage(fields: [String: String]) {
    let door = Guard(token: nil, loopback: "127.0.0.1")
    #expect(door.check(path, fields.merging(["host": "localhost"]) { $1 }) == .granted)
  }

  @Test(
    "a foreign Origin is refused, whatever the other headers say",
    arguments: ["http://evil.example", "null", "http://localhost:8081", "http://localhost.evil.example", ""])
  func foreignOrigin(origin: String) {
    let door = Guard(token: nil, loopback: "127.0.0.1")
    for fields in [
      [:], ["sec-fetch-site": "same-origin"],
      ["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"],
    ] {
      guard
        case .refused(403, _) = door.check(
          path, isPage: true, { fields.merging(["host": "localhost:80", "origin": origin]) { $1 }[$0] })
      else {
        Issue.record("\(fields)")
        continue
      }
    }
    let other = Guard(token: nil, loopback: nil)
    let proxied = ["host": "films.example:8443", "origin": "https://films.example:8443"]
    #expect(other.check(path, proxied) == .granted)
  }

  @Test("a token is accepted only in the query, as a bearer token, and in the cookie")
  func token() throws {
    let door = Guard(token: "s3cret/+ü", loopback: nil)
    #expect(
      door.check(try #require(RequestPath("/?token=s3cret%2F%2B%C3%BC")), [:] as [String: String]) == .grantedByQuery)
    #expect(door.check(path, ["authorization": "Bearer s3cret/+ü"]) == .granted)
    #expect(door.check(path, ["cookie": "a=b; retrograde-token=s3cret%2F%2B%C3%BC"]) == .granted)
    for wrong in [
      [:], ["authorization": "Bearer s3cret"], ["authorization": "Basic s3cret/+ü"], ["cookie": "token=s3cret"],
      ["authorization": "Bearer s3cret/+üü"],
    ] {
      guard case .refused(401, _) = door.check(path, wrong) else {
        Issue.record("\(wrong)")
        continue
      }
    }
    #expect(
      Guard.isSame("", "") && !Guard.isSame("", "a") && !Guard.isSame("a", "") && Guard.isSame("ab", "ab")
        && !Guard.isSame("ab", "ac"))
  }

  @Test(
    "a file name is escaped wherever it appears",
    arguments: [
      ("a.mp4", "attachment; filename=\"a.mp4\"; filename*=UTF-8''a.mp4"),
      (
        "ä \"b\"\r\nX: y.mp4",
        "attachment; filename=\"_ _b___X: y.mp4\"; filename*=UTF-8''%C3%A4%20%22b%22%0D%0AX%3A%20y.mp4"
      ),
    ])
  func escapedName(name: String, field: String) {
    #expect(RequestHandler.attachment(name) == field)
    #expect("<a href='\"&\u{301}".escaped == "&lt;a href=&#39;&quot;&amp;\u{301}")
  }

  private let path: RequestPath

  init() throws { path = try #require(RequestPath("/")) }
}

extension Guard {
  fileprivate func check(_ path: RequestPath, _ fields: [String: String]) -> Answer {
    check(path, isPage: false) { fields[$0] }
  }
}
