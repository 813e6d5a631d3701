import Foundation
import TestSupport
import Testing

/// `make install` and `make uninstall`, which use scripts/install.
@Suite struct InstallTests {
  private let scratch: Scratch
  private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private let prefix = "/opt/my programs"

  init() throws { scratch = try Scratch() }

  private func install(_ argument: String, prefix: String? = nil) throws -> Command.Result {
    let prefix = prefix ?? self.prefix
    let variables = [
      "PREFIX": prefix, "LIBDIR": "\(prefix)/lib", "PLUGINDIR": "\(prefix)/lib/gstreamer-1.0",
      "DESTDIR": scratch.path("root"), "VERSION": "1.2.3", "COMMAND": Command.url.path,
      // The plugin is not built here, so another file is installed instead of it.
      "PLUGIN": root.appending(path: "LICENSE").path,
    ]
    return Command.Result(
      try Program(root.appending(path: "scripts/install").path, [argument], in: root, variables: variables).end())
  }

  /// Returns all installed files and folders.
  private func all() -> Set<String> {
    Set(FileManager.default.enumerator(atPath: scratch.path("root"))?.compactMap { $0 as? String } ?? [])
  }

  private func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: scratch.path("root\(path)"))
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  @Test("uninstalling leaves exactly the files that were there before")
  func uninstall() throws {
    try write("Another program's.", to: "\(prefix)/share/man/man1/another.1")
    let before = all()
    let installed = try install("all")
    #expect(installed.status == 0, "\(installed.errors)")
    let files = all()
    for name in [
      "bin/retrograde", "lib/gstreamer-1.0/libgstretrograde.so", "lib/pkgconfig/retrograde.pc",
      "share/man/man1/retrograde.1", "share/man/man1/retrograde-reverse.1",
      "share/bash-completion/completions/retrograde", "share/zsh/site-functions/_retrograde",
      "share/fish/vendor_completions.d/retrograde.fish", "share/retrograde/pipelines/lossless.pipeline",
      "share/retrograde/swift/Package.swift", "share/doc/retrograde/README.md",
    ] { #expect(files.contains("opt/my programs/\(name)"), "\(name)") }
    let removed = try install("--remove")
    #expect(removed.status == 0, "\(removed.errors)")
    #expect(all() == before)
  }

  @Test("uninstalling keeps files that were added later")
  func addedFiles() throws {
    try #require(try install("all").status == 0)
    try write("The user's.", to: "\(prefix)/share/retrograde/pipelines/mine.pipeline")
    try #require(try install("--remove").status == 0)
    let files = all().filter { !FileManager.default.isFolder(scratch.path("root/\($0)")) }
    #expect(files == ["opt/my programs/share/retrograde/pipelines/mine.pipeline"])
  }

  @Test("an upgrade removes files that only the old release had")
  func upgrade() throws {
    try #require(try install("all").status == 0)
    let first = all()
    let old = "\(prefix)/share/man/man1/retrograde-old.1"
    try write("A command of an older release.", to: old)
    let record = URL(fileURLWithPath: scratch.path("root\(prefix)/share/retrograde/installed-files"))
    try Data((String(contentsOf: record, encoding: .utf8) + old + "\n").utf8).write(to: record)
    try #require(try install("all").status == 0)
    #expect(all() == first)
    try #require(try install("--remove").status == 0)
    #expect(all() == [])
  }

  @Test("the installed command finds the installed pipeline files")
  func installedPipelines() throws {
    try #require(try install("all").status == 0)
    let installed = URL(fileURLWithPath: scratch.path("root\(prefix)/bin/retrograde"))
    let environment = ProcessInfo.processInfo.environment.merging([
      "XDG_DATA_HOME": scratch.path("none"), "XDG_DATA_DIRS": scratch.path("none"),
    ]) { $1 }
    let listed = try Command.run(["run", "--list"], of: installed, environment: environment)
    #expect(listed.status == 0, "\(listed.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "pipelines").path)
    #expect(listed.output.split(separator: "\n").count == names.count)
    #expect(listed.output.contains("lossless     FFV1 and PCM in Matroska"))
  }

  @Test("every option of the help is in the manual")
  func manual() throws {
    try #require(try install("all").status == 0)
    for command in ["reverse", "verify", "play", "capture", "run", "info", "plan", "devices"] {
      let page = try String(
        contentsOfFile: scratch.path("root\(prefix)/share/man/man1/retrograde-\(command).1"), encoding: .utf8)
      let help = try Command.run(["help", command]).output
      let options = help.split(separator: "\n").compactMap { $0.firstMatch(of: /^  (?:-\w, )?(--[a-z-]+)/)?.1 }
      #expect(options.count > 2)
      for option in options { #expect(page.contains(option.replacing("-", with: "\\-")), "\(command) \(option)") }
    }
  }

  @Test("uninstalling without an installation, and a relative prefix, are refused")
  func refusals() throws {
    let nothing = try install("--remove")
    #expect(nothing.status == 1)
    #expect(nothing.errors.contains("nothing is installed in \(scratch.path("root"))\(prefix)"))
    #expect(try install("all", prefix: "usr").status == 64)
    #expect(all() == [])
  }
}

extension FileManager {
  fileprivate func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
