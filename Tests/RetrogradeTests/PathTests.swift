import Foundation
import Paths
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Conversion of file names to strings and back.
@Suite struct PathTests {
  @Test(
    "a file name in valid UTF-8 survives the conversion to a string",
    arguments: [
      "", "clip.mp4", "Caf\u{e9}/\u{1F600}.mkv", "\u{10FFFF}", "\u{10E07F}\u{10E100}",
    ])
  func validNames(_ name: String) {
    let path = String(pathBytes: Array(name.utf8))
    #expect(path == name && !path.hasRawBytes && path.pathBytes == Array(name.utf8))
    #expect(path.readablePath == name)
  }

  @Test(
    "each invalid byte becomes one character with a readable form",
    arguments: [
      ([0x63, 0xE9, 0x2E, 0x61], "c\\xe9.a"), ([0xC3], "\\xc3"), ([0xC3, 0xA9, 0xC3], "\u{e9}\\xc3"),
      ([0xED, 0xB3, 0xA9], "\\xed\\xb3\\xa9"), ([0xC0, 0xAF], "\\xc0\\xaf"),
      ([0xF4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"),
      ([0xE2, 0x82, 0x2F, 0xE2, 0x82, 0xAC], "\\xe2\\x82/\u{20AC}"),
      // A real U+10E0E9 must not be read as the byte 0xE9.
      ([0xF4, 0x8E, 0x83, 0xA9, 0x61], "\\xf4\\x8e\\x83\\xa9a"),
    ] as [([UInt8], String)])
  func invalidNames(_ bytes: [UInt8], readable: String) {
    let path = String(pathBytes: bytes)
    #expect(path.hasRawBytes && path.pathBytes == bytes && path.readablePath == readable)
    #expect(path.cPath.map { UInt8(bitPattern: $0) } == bytes + [0])
    #expect(path.cPath.withUnsafeBufferPointer { $0.baseAddress.map { String(cPath: $0) } } == path)
  }

  @Test("file URLs may contain invalid bytes, and messages show them")
  func addresses() throws {
    let path = "/tmp/a b" + String(pathBytes: [0xE9]) + "/\u{e9}.mp4"
    for text in ["file:///tmp/a%20b%E9/%C3%A9.mp4", "file://localhost/tmp/a%20b%e9/%c3%a9.mp4"] {
      #expect(try #require(URL(string: text)).filePath == path && Address.path(of: text) == path)
    }
    #expect(try #require(URL(string: "https://example.org/a%20b")).filePath == "https://example.org/a%20b")
    let error = RetrogradeError(.noInput, about: path, "no such file as \(path)")
    #expect("\(error)" == "/tmp/a b\\xe9/\u{e9}.mp4: no such file as /tmp/a b\\xe9/\u{e9}.mp4")
    #expect(error.subject == path)
  }

  @Test("an HLS playlist may name files with invalid UTF-8 only in percent encoding")
  func playlists() throws {
    let folder = try TemporaryFolder()
    let list = folder.path("list.m3u8")
    let start = Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n".utf8)
    try Data(start + [0xE9] + Array(".ts\n".utf8)).write(to: URL(fileURLWithPath: list))
    #expect { try Playlist(path: list)?.checkNames(in: list) } throws: { "\($0)".contains("is not UTF-8") }
    try Data(start + Array("%E9.ts\n".utf8)).write(to: URL(fileURLWithPath: list))
    #expect { try Playlist(path: list)?.checkNames(in: list) } throws: {
      "\($0)".contains("%E9.ts, which can't be read: No such file")
    }
    let file = folder.url.path + "/" + String(pathBytes: [0xE9] + ".ts".utf8)
    try #require(fopen(file.cPath, "w").map { fclose($0) } == 0)
    try Playlist(path: list)?.checkNames(in: list)
  }

  @Test("two different byte sequences never give the same string")
  func randomNames() {
    var random = SeededGenerator(37)
    let parts: [[UInt8]] = [
      [0xF4], [0x8E], [0x83], [0xA9], [0xF4, 0x8E, 0x82, 0x80], [0xC3, 0xA9], [0xE2, 0x82], [0x41], [0x2F], [0xFF],
      [0xED, 0xA0],
    ]
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in parts.randomElement(using: &random) ?? [] }
      #expect(String(pathBytes: bytes).pathBytes == bytes)
    }
  }
}
