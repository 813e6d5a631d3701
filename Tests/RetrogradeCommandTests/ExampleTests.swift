import Foundation
import Testing

/// Runs the programs in Examples/ as a user does.
@Suite struct ExampleTests {
  private func run(_ name: String, _ arguments: [String]) throws -> Command.Result {
    try Command.run(arguments, of: Command.url.deletingLastPathComponent().appending(path: name))
  }

  @Test("the examples write their outputs")
  func outputs() throws {
    let scratch = try Scratch()
    let curve = try run("example-animated-curve", [scratch.path("curve.mp4")])
    #expect(curve.status == 0 && curve.output.hasSuffix("curve.mp4: 90 frames\n"), "\(curve.errors)")
    let boomerang = try run(
      "example-titled-boomerang", [scratch.path("curve.mp4"), "There and back", scratch.path("b.mp4")])
    #expect(boomerang.status == 0, "\(boomerang.errors)")
    let strips = try run("example-film-strips", [scratch.path("strips.png")])
    #expect(strips.status == 0, "\(strips.errors)")
    let picture = try run(
      "example-captioned-picture", [scratch.path("strips.png"), "Dominoes", scratch.path("p.webm")])
    #expect(picture.status == 0 && picture.output.hasSuffix("p.webm: 50 frames\n"), "\(picture.errors)")
  }

  @Test(
    "the examples fail with a one-line message",
    arguments: [
      ("example-animated-curve", ["none/curve.mp4"]), ("example-captioned-picture", ["none/a.png", "a", "a.mp4"]),
      ("example-titled-boomerang", ["none/a.mp4", "a", "none/b.mp4"]),
    ])
  func failures(name: String, arguments: [String]) throws {
    let result = try run(name, arguments)
    #expect(result.status == 1)
    #expect(
      result.errors.hasPrefix("Error: none/") && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
  }
}
