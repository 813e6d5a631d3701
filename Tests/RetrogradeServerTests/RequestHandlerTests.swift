import Foundation
import MediaTime
import Paths
import Retrograde
import RetrogradeEngine
import Soup
import TestSupport
import Testing

@testable import RetrogradeServer

/// Answers to requests.
@Suite struct RequestHandlerTests {
  @Test("every part of a stream is found at its address")
  func streamParts() async throws {
    let fake = try FakeRequestHandler(
      ServerSettings(), FakeStream(subtitles: [.init(language: "en", title: nil, text: "WEBVTT\n\n")]))
    let base = "/\(fake.id)/usual/\(try await fake.version)"
    let wanted: [(String, String, String)] = [
      ("/\(fake.id)/", "text/html; charset=utf-8", "<!doctype html>"),
      ("/\(fake.id)/master.m3u8", "application/vnd.apple.mpegurl", "#EXTM3U"),
      ("/\(fake.id)/ping-pong/master.m3u8", "application/vnd.apple.mpegurl", "#EXTM3U"),
      ("\(base)/540/media.m3u8", "application/vnd.apple.mpegurl", "#EXTM3U"),
      ("\(base)/audio/0.m4s", "audio/mp4", "\0"),
      ("\(base)/540/2.m4s", "video/mp4", "\0"),
      ("\(base)/subtitles/0.m3u8", "application/vnd.apple.mpegurl", "#EXTM3U"),
      ("\(base)/subtitles/0.vtt", "text/vtt; charset=utf-8", "WEBVTT\nX-TIMESTAMP-MAP"),
      ("\(base)/chapters.json", "application/json", "[{\"end\":4,"),
      ("\(base)/waveform.json", "application/json", "[0,128,255,0]"),
      ("\(base)/frames.bin", "application/octet-stream", ""),
      ("/\(fake.id)/usual/command.json?from=1&to=2.5", "application/json", "{\"command\":\"retrograde reverse "),
    ]
    for (path, type, start) in wanted {
      let answer = try await fake.ask(path)
      #expect(answer.status == 200, "\(path)")
      #expect(answer["content-type"] == type, "\(path)")
      #expect(try await answer.text.hasPrefix(start), "\(path)")
    }
    #expect(try await fake.ask("\(base)/270/init.mp4").bytes == [1, 255])
    #expect(try await fake.ask("\(base)/audio/1.m4s").bytes.suffix(2) == [2, 1])
    let frames = try await fake.ask("\(base)/frames.bin").bytes
    #expect(frames.count == 250 * 8)
    #expect(
      frames[8..<16].enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << (8 * UInt64($1.offset)) }
        == 0.04.bitPattern)
  }

  @Test(
    "unknown addresses get status 404",
    arguments: [
      "/nothing-01234567/", "/ID/usual/000000000000/540/0.m4s", "/ID/usual/VERSION/540/3.m4s",
      "/ID/usual/VERSION/720/0.m4s", "/ID/usual/VERSION/subtitles/0.vtt",
      "/ID/usual/VERSION/pictures/10000.jpg", "/ID/backwards/info.json", "/ID/usual/", "/favicon.ico",
      "/ID/usual/VERSION/540/", "/ID/../ID/",
    ])
  func unknownAddress(path: String) async throws {
    let fake = try FakeRequestHandler()
    let version = try await fake.version
    let answer = try await fake.ask(path.replacing("ID", with: fake.id).replacing("VERSION", with: version))
    #expect(answer.status == (path.contains("..") ? 400 : 404))
    #expect(
      try await answer.text
        == (path.contains("..") ? "This is not a valid URL.\n" : "There is nothing at this URL.\n"))
    #expect(answer["x-content-type-options"] == "nosniff")
  }

  @Test("a part can be cached, and byte ranges of it can be requested")
  func cachingAndRanges() async throws {
    let fake = try FakeRequestHandler()
    let path = "/\(fake.id)/usual/\(try await fake.version)/540/1.m4s"
    #expect(try await fake.ask(path).bytes.count == 102)
    let whole = try await fake.ask(path)
    let tag = try #require(whole["etag"])
    #expect(whole["cache-control"] == "private, max-age=86400, immutable")
    #expect(whole["accept-ranges"] == "bytes")
    #expect(try await fake.ask(path)["etag"] == tag)
    let known = try await fake.ask(path, ["if-none-match": "\"x\", \(tag)"])
    #expect(known.status == 304)
    #expect(try await known.bytes.isEmpty)
    let part = try await fake.ask(path, ["range": "bytes=10-19"])
    #expect(part.status == 206)
    #expect(part["content-range"] == "bytes 10-19/102")
    #expect(try await part.bytes == Array(10..<20))
    #expect(try await fake.ask(path, ["range": "bytes=10-19", "if-range": tag]).status == 206)
    #expect(try await fake.ask(path, ["range": "bytes=10-19", "if-range": "\"x\""]).status == 200)
    let none = try await fake.ask(path, ["range": "bytes=102-"])
    #expect(none.status == 416)
    #expect(none["content-range"] == "bytes */102")
  }

  @Test("only GET and HEAD are allowed")
  func methods() async throws {
    let fake = try FakeRequestHandler()
    for method in [Request.Method.post, .put, .delete, .options] {
      let answer = try await fake.ask("/", method: method)
      #expect(answer.status == 405)
      #expect(answer["allow"] == "GET, HEAD")
    }
  }

  @Test("no other site may read the answers or show them in a frame")
  func securityHeaders() async throws {
    let fake = try FakeRequestHandler()
    for path in ["/", "/\(fake.id)/", "/\(fake.id)/master.m3u8", "/nothing"] {
      let answer = try await fake.ask(path)
      #expect(answer["access-control-allow-origin"] == nil)
      #expect(answer["cross-origin-resource-policy"] == "same-origin")
      #expect(answer["content-security-policy"]?.contains("frame-ancestors 'none'") ?? false)
      #expect(answer["referrer-policy"] == "no-referrer")
    }
    let policy = try #require(try await fake.ask("/\(fake.id)/")["content-security-policy"])
    #expect(!policy.contains("unsafe"))
    #expect(policy.contains("script-src 'sha256-"))
    #expect(policy.contains("style-src 'sha256-"))
  }

  @Test("a list shows file names as text, not as HTML")
  func fileList() async throws {
    let fake = try FakeRequestHandler(names: ["<b>&\"'.wav", "two.wav"])
    let text = try await fake.ask("/").text
    #expect(text.contains("<span>&lt;b&gt;&amp;&quot;&#39;.wav</span>"))
    #expect(text.contains("<a href=\"/\(fake.id)/\"><img src=\"/\(fake.id)/picture.jpg\" alt=\"\" loading=\"lazy\">"))
    let single = try FakeRequestHandler()
    let answer = try await single.ask("/")
    #expect(answer.status == 302)
    #expect(answer["location"] == "/\(single.id)/")
  }

  @Test("if only one file is served, its playlist is at the top address")
  func topPlaylist() async throws {
    let single = try FakeRequestHandler()
    let own = try await single.ask("/\(single.id)/master.m3u8").text
    let top = try await single.ask("/master.m3u8").text
    #expect(own.hasPrefix("#EXTM3U") && own != top)
    #expect(top.replacing("\(single.id)/", with: "") == own)
    #expect(try await FakeRequestHandler(names: ["one.wav", "two.wav"]).ask("/master.m3u8").status == 404)
  }

  @Test("a token in the address is repeated in the addresses of the answer")
  func tokenInAddresses() async throws {
    let fake = try FakeRequestHandler(ServerSettings(token: "s3cret&more"))
    #expect(try await fake.ask("/\(fake.id)/master.m3u8").status == 401)
    let asked = try await fake.ask("/\(fake.id)/master.m3u8?token=s3cret%26more")
    #expect(asked["set-cookie"] == "retrograde-token=s3cret%26more; Path=/; HttpOnly; SameSite=Strict")
    #expect(
      try await asked.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.allSatisfy {
        $0.hasSuffix("media.m3u8?token=s3cret%26more")
      })
    let bearer = try await fake.ask("/\(fake.id)/master.m3u8", ["authorization": "Bearer s3cret&more"])
    #expect(bearer["set-cookie"] == nil)
    #expect(try await !bearer.text.contains("token"))
  }

  @Test(
    "HEAD and range requests wait for the whole segment",
    arguments: [(Request.Method.head, nil), (.get, "bytes=10-19")] as [(Request.Method, String?)])
  func waitingForWhole(method: Request.Method, range: String?) async throws {
    let gate = FakeGate()
    let fake = try FakeRequestHandler(ServerSettings(jobs: 1), FakeStream(gate: gate, ahead: 60))
    let path = "/\(fake.id)/usual/\(try await fake.version)/540/2.m4s"
    let asking = Task { try await fake.ask(path, method: method, range.map { ["range": $0] } ?? [:]) }
    try await gate.wait { $0.entered == 1 }
    gate.open()
    let answer = try await asking.value
    #expect(answer.status == (range == nil ? 200 : 206))
    #expect(answer["etag"] != nil)
    #expect(try await answer.bytes.count == (range == nil ? 102 : 10))
  }

  @Test("a segment can be requested from any fragment on, but is sent in full once it is finished")
  func pieces() async throws {
    let fake = try FakeRequestHandler(ServerSettings(), FakeStream())
    let base = "/\(fake.id)/usual/\(try await fake.version)/540"
    #expect(try await fake.ask("\(base)/2-3.m4s").bytes.count == 27)
    #expect(try await fake.ask("\(base)/2-4.m4s").status == 404)
    #expect(try await fake.ask("\(base)/2.m4s").bytes.count == 102)
    #expect(try await fake.ask("\(base)/2-2.m4s").bytes.count == 102, "a complete segment is served whole")
  }

  @Test("a failure before the first byte is an error answer")
  func earlyFailure() async throws {
    let fake = try FakeRequestHandler(ServerSettings(), FakeStream(fails: true))
    let answer = try await fake.ask("/\(fake.id)/usual/\(try await fake.version)/540/2.m4s")
    #expect(answer.status == 415)
    #expect(try await answer.text == "a film: can't be decoded\n")
  }

  @Test("a file whose child crashed is not opened again until the file changes")
  func crash() async throws {
    let (opened, reported) = (Counted(), Counted())
    let fake = try FakeRequestHandler(
      names: ["a.wav", "b.wav"], onCrash: { _ in reported.add() },
      open: { path, _, _ in
        guard realPath(path)?.hasSuffix("a.wav") ?? false else { return FakeStream() }
        opened.add()
        throw RetrogradeError(.crashed, about: "a film", "its process crashed")
      })
    let other = "/\(FileID.of(fake.folder.path("b.wav")))/usual/info.json"
    for _ in 0..<3 {
      let answer = try await fake.ask("/\(fake.id)/usual/info.json")
      #expect(answer.status == 415)
      #expect(try await answer.text == "a film: its process crashed\n")
      #expect(try await fake.ask(other).status == 200)
    }
    #expect(opened.count == 1 && reported.count == 1)
    try (FakeRequestHandler.wave + [0, 0]).write(to: fake.folder.url.appending(path: "a.wav"))
    #expect(try await fake.ask("/\(fake.id)/usual/info.json").status == 415)
    #expect(opened.count == 2 && reported.count == 2)
  }

  @Test("a file whose child crashed while making a segment is not opened again")
  func crashOfSegment() async throws {
    let fake = try FakeRequestHandler(ServerSettings(), FakeStream(fails: true, code: .crashed))
    let path = "/\(fake.id)/usual/\(try await fake.version)/540/2.m4s"
    #expect(try await fake.ask(path).status == 415)
    #expect(try await fake.ask("/\(fake.id)/usual/info.json").status == 415)
  }

  @Test("a segment requested by many clients is made once")
  func sharedSegment() async throws {
    let gate = FakeGate()
    let fake = try FakeRequestHandler(ServerSettings(jobs: 1), FakeStream(gate: gate))
    let path = "/\(fake.id)/usual/\(try await fake.version)/540/2.m4s"
    let all = (0..<10).map { _ in Task { try await fake.ask(path).bytes.count } }
    try await gate.wait { $0.entered == 1 }
    gate.open()
    for task in all { #expect(try await task.value == 102) }
    #expect(try await fake.ask(path).bytes.count == 102)
    #expect(gate.seen == .init(entered: 1, passed: 1, cancelled: 0))
  }

  @Test("the segment after the requested one is prefetched")
  func prefetch() async throws {
    let gate = FakeGate()
    gate.open()
    let fake = try FakeRequestHandler(ServerSettings(jobs: 1), FakeStream(gate: gate))
    let base = "/\(fake.id)/usual/\(try await fake.version)"
    _ = try await fake.ask("\(base)/540/0.m4s")
    try await gate.wait { $0.passed == 2 }
    _ = try await fake.ask("\(base)/540/1.m4s")
    try await gate.wait { $0.passed == 3 }
    _ = try await fake.ask("\(base)/540/2.m4s")
    #expect(gate.seen.entered == 3)
  }

  @Test("a seek stops the prefetching of a segment")
  func prefetchStop() async throws {
    let gate = FakeGate(free: 1)
    let fake = try FakeRequestHandler(ServerSettings(jobs: 3), FakeStream(gate: gate))
    let base = "/\(fake.id)/usual/\(try await fake.version)"
    _ = try await fake.ask("\(base)/540/0.m4s")
    try await gate.wait { $0.entered == 2 }
    let seek = Task { try await fake.ask("\(base)/540/2.m4s") }
    try await gate.wait { $0 == .init(entered: 3, passed: 1, cancelled: 1) }
    gate.open()
    #expect(try await seek.value.bytes.count == 102)
  }

  @Test("above the request limit, clients are asked to try again later")
  func overload() async throws {
    let gate = FakeGate()
    let fake = try FakeRequestHandler(ServerSettings(jobs: 1), FakeStream(gate: gate))
    let version = try await fake.version
    let paths = (0..<3).flatMap { segment in ["540", "270", "audio"].map { "\($0)/\(segment).m4s" } }
    // One segment is being made, and eight other requests wait in the queue.
    let all = paths.map { path in Task { try await fake.ask("/\(fake.id)/usual/\(version)/\(path)").status } }
    try await gate.wait { $0.entered == 1 }
    while fake.handler.load.waiting < 8 { await Task.yield() }
    #expect(try await fake.ask("/\(fake.id)/usual/\(version)/270/init.mp4").status == 200, "which is there")
    let refused = try await fake.ask("/\(fake.id)/usual/\(version)/270/0-1.m4s")
    #expect(refused.status == 503)
    #expect(refused["retry-after"] == "1")
    gate.open()
    for task in all { #expect(try await task.value == 200) }
  }

  @Test("a segment that no client waits for is stopped")
  func abandonedSegment() async throws {
    let gate = FakeGate()
    let fake = try FakeRequestHandler(ServerSettings(jobs: 1), FakeStream(gate: gate))
    let path = "/\(fake.id)/usual/\(try await fake.version)/540/2.m4s"
    let asking = Task { try await fake.ask(path) }
    try await gate.wait { $0.entered == 1 }
    asking.cancel()
    try await gate.wait { $0.cancelled == 1 }
    await #expect(throws: CancellationError.self) { try await asking.value }
    while fake.handler.load.running > 0 { await Task.yield() }
  }

  @Test("closing ends running work and refuses new work")
  func closing() async throws {
    let gate = FakeGate()
    let fake = try FakeRequestHandler(ServerSettings(), FakeStream(gate: gate))
    let base = "/\(fake.id)/usual/\(try await fake.version)"
    let asking = Task { try await fake.ask("\(base)/540/2.m4s") }
    try await gate.wait { $0.entered == 1 }
    fake.handler.close()
    #expect(try await asking.value.status == 503)
    #expect(gate.seen.passed == 0)
    gate.open()
    for path in ["\(base)/540/1.m4s", "/\(fake.id)/ping-pong/master.m3u8", "/\(fake.id)/usual/mirror?from=1&to=2"] {
      #expect(try await fake.ask(path).status == 503, "\(path)")
    }
  }

  @Test("a changed file is opened again")
  func changedFile() async throws {
    let fake = try FakeRequestHandler()
    let version = try await fake.version
    try (FakeRequestHandler.wave + [0]).write(to: fake.folder.url.appending(path: "a film.wav"))
    #expect(try await fake.version != version)
    #expect(try await fake.ask("/\(fake.id)/usual/\(version)/540/0.m4s").status == 404)
  }

  @Test(
    "a range query needs a start before its end, both in seconds",
    arguments: [
      ("from=a", 400), ("from=2&to=1", 400), ("from=-1", 400), ("from=1e30", 400), ("from=nan", 400),
      ("from=&to=", 200),
      ("", 200),
    ])
  func rangeQuery(query: String, status: Int) async throws {
    let fake = try FakeRequestHandler()
    #expect(try await fake.ask("/\(fake.id)/usual/command.json?\(query)").status == status)
  }

  @Test(
    "the suggested command makes the chosen range",
    arguments: [
      ("usual", "", "'a film (reverse).mp4'"),
      ("reverse", "from=2.01&to=3.59", "'a film (reverse).mp4' --start 6.4 --end 8"),
      ("forward", "from=2", "'a film (forward).mp4' --loop forward --start 2 --end 10"),
      ("ping-pong", "from=1&to=3", "'a film (ping-pong).mp4' --loop ping-pong --start 1 --end 3"),
      ("ping-pong", "from=1&to=8", "'a film (ping-pong).mp4' --loop ping-pong --start 1 --end 5.04"),
      (
        "reverse-forward", "from=1&to=3",
        "'a film (reverse-forward).mp4' --loop reverse-forward --start 2.04 --end 4.04"
      ),
      ("0..1 x0.5, 1..0", "from=1&to=2", "'a film (score).mp4' --score '0..1 x0.5, 1..0'"),
    ])
  func command(score: String, query: String, words: String) async throws {
    let fake = try FakeRequestHandler()
    let text = try await fake.ask("/\(fake.id)/\(score.percentEncoded)/command.json?\(query)").text
    let path = fake.folder.path("a film.wav")
    #expect(text == "{\"command\":\"retrograde reverse '\(path)' \(words)\"}")
  }

  @Test("the suggested command has the options for the frames and the audio of a score")
  func commandOfScore() async throws {
    var playback = PlaybackOptions(joint: ClockTime(seconds: 0.02), dissolve: ClockTime(seconds: 0.25))
    (playback.interpolation, playback.keepsPitch) = (.blend, true)
    let fake = try FakeRequestHandler(ServerSettings(playback: playback))
    let text = try await fake.ask("/\(fake.id)/\("0..1 x0.5, 1..0".percentEncoded)/command.json").text
    let words = "--score '0..1 x0.5, 1..0' --joint 0.02 --dissolve 0.25 --interpolate blend --keep-pitch"
    #expect(text.contains(words), "\(text)")
  }
}
