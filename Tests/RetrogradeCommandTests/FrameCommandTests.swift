import Foundation
import Testing

@Suite struct FrameCommandTests {
  @Test("several frames are written at once")
  func severalFrames() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let result = try Command.run(
      ["frame", scratch.path("a.mp4"), "0", "1.5s", "25f", "end-0.5", "last", scratch.path("f-%02d.png")])
    #expect(result.status == 0, "\(result.errors)")
    #expect(scratch.names == ["a.mp4", "f-01.png", "f-02.png", "f-03.png", "f-04.png", "f-05.png"])
  }

  private static let refused: [([String], Int32, String)] = [
    (["3.2s"], 64, "at least one position"), (["2.5", "OUT.png"], 64, "so there is no frame at position 2.5"),
    (["60f", "OUT.png"], 64, "59f"),
    (["0", "1", "OUT.png"], 64, "frame-%02d.png"), (["soon", "OUT.png"], 64, "not a position"),
    (["\"Chorus\"", "OUT.png"], 64, "no chapters"), (["0", "OUT.mp4"], 64, "no image format"),
    (["0", "a.png"], 73, "--overwrite"),
  ]

  @Test("impossible requests are explained", arguments: refused)
  func impossibleRequests(arguments: [String], status: Int32, words: String) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    try Data("mine".utf8).write(to: scratch.url.appending(path: "a.png"))
    let given = arguments.map { $0.hasSuffix(".png") || $0.hasSuffix(".mp4") ? scratch.path($0) : $0 }
    let result = try Command.run(["frame", scratch.path("a.mp4")] + given)
    #expect(result.status == status)
    #expect(result.errors.contains(words), "\(result.errors)")
    #expect(scratch.names == ["a.mp4", "a.png"])
  }

  @Test("-y replaces an image")
  func overwrite() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    try Data("mine".utf8).write(to: scratch.url.appending(path: "a.jpg"))
    let result = try Command.run(
      ["frame", scratch.path("a.mp4"), "last", scratch.path("a.jpg"), "-y", "--width", "80", "--quiet"])
    #expect(result.status == 0)
    #expect(result.errors == "retrograde: warning: changed: the video's 10 bits a sample become 8\n")
    #expect(try Array(Data(contentsOf: scratch.url.appending(path: "a.jpg")).prefix(2)) == [0xFF, 0xD8])
  }
}
