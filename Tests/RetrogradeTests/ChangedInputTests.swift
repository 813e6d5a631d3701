import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Files that are changed while they are read.
@Suite struct ChangedInputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: folder.url.appending(path: name))
  }

  private func append(_ text: String, _ path: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  /// Returns the error of a run during which `change` is called; nil if the run succeeds.
  private func refusal(of inputs: [String], _ change: () throws -> Void) throws -> RetrogradeError? {
    let output = folder.path("o.mp4")
    do {
      try Outputs.write(overwrites: false, inputs: inputs) { outputs in
        try outputs.begin(output)
        try Data("made".utf8).write(to: URL(fileURLWithPath: try outputs.location(of: output)))
        try change()
      }
      return nil
    } catch let error as RetrogradeError {
      #expect(!FileManager.default.fileExists(atPath: output))
      return error
    }
  }

  @Test("an input that changes while it is read is an error that names the change")
  func changedInput() throws {
    let (a, b) = (folder.path("a"), folder.path("b"))
    try write("first", "a")
    try write("other", "b")
    let words: [(String, () throws -> Void)] = [
      ("grew from 5 to 9 bytes", { try append("more", a) }),
      ("was cut from 9 to 2 bytes", { _ = truncate(a, 2) }),
      (
        "was changed",
        {
          try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: a)
        }
      ),
      ("was replaced by another file", { _ = rename(b, a) }),
      ("was removed or renamed", { _ = unlink(a) }),
    ]
    for (expected, change) in words {
      let error = try #require(try refusal(of: ["c", a], change))
      #expect(error.code == .inputOutput && error.subject == a)
      #expect("\(error)".contains("\(expected) while it was read"), "\(error)")
    }
  }

  @Test("a change of any image in a numbered sequence is an error")
  func sequences() throws {
    for number in 1...3 { try write("image", "\(number).png") }
    let pattern = folder.path("%d.png")
    #expect(try refusal(of: [pattern]) {} == nil)
    try FileManager.default.removeItem(atPath: folder.path("o.mp4"))
    let error = try refusal(of: [pattern]) { try append("more", folder.path("2.png")) }
    #expect(error?.code == .inputOutput && error?.subject == folder.path("2.png"))
  }

  @Test("if a run fails and an input has changed, the error names the change")
  func failureByChange() throws {
    try write("first", "a")
    let error = try refusal(of: [folder.path("a")]) {
      _ = truncate(folder.path("a"), 1)
      throw RetrogradeError(.damagedInput, "its end is missing")
    }
    #expect(error?.code == .inputOutput && "\(error as Any)".contains("was cut from 5 to 1 bytes"))
  }

  @Test("reverse and verify notice an input that grows or is truncated")
  func growingFile() async throws {
    var media = TestMedia()
    media.times = TestMedia.regular(300, rate: 30)
    (media.name, media.muxer) = ("s.ts", "mpegtsmux")
    let path = try media.write(to: folder)
    let isOver = Cancellation()
    let writer = try Worker("writer") { [self] in while !isOver.isCancelled { try append("more", path) } }
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(path).reverse(to: folder.path("o.mkv"))
    }
    isOver.cancel()
    try writer.join()
    #expect(error?.code == .inputOutput, "\(error as Any)")
    try await Reverser(path).reverse(to: folder.path("o.mkv"))
    let checked = await #expect(throws: RetrogradeError.self) {
      _ = try await Verifier(path, mirror: folder.path("o.mkv")).verify { _ in _ = truncate(path, 188_000) }
    }
    #expect(checked?.code == .inputOutput, "\(checked as Any)")
  }
}
