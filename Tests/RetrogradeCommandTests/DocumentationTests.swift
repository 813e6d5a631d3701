import Foundation
import Testing

/// The commands in docs/ are run as they stand.
@Suite struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func commands(_ page: String) throws -> [String] {
    try String(contentsOf: root.appending(path: "docs/\(page)"), encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("    retrograde ") }.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test func everyCommandOfThePageOnLoopsRuns() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("clip.mp4"), frames: 60)
    let screen = try Screen()
    defer { screen.close() }
    let commands = try DocumentationTests.commands("loops-and-movies.md")
    #expect(commands.count >= 15)
    for command in commands {
      let shell = Process()
      let errors = Pipe()
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = ["-c", command]
      shell.currentDirectoryURL = scratch.url
      let folder = Command.url.deletingLastPathComponent().path
      shell.environment = ProcessInfo.processInfo.environment.merging([
        "PATH": "\(folder):/usr/bin:/bin", "DISPLAY": screen.name,
      ]) { $1 }
      shell.standardOutput = FileHandle.nullDevice
      shell.standardError = errors
      try shell.run()
      let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      shell.waitUntilExit()
      #expect(shell.terminationStatus == 0, "\(command): \(said)")
    }
  }
}
