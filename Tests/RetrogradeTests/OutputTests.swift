import Foundation
import Images
import RetrogradeEngine
import TestSupport
import Testing

@testable import Retrograde

/// Rules for the names of outputs: docs/reliability.md, "Outputs".
@Suite struct OutputTests {
  private struct Failure: Error {}

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }
  private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  @Test("an output has no name until it is complete")
  func unnamedUntilComplete() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("o.mp4")
    try Outputs.write(overwrites: false, inputs: []) { outputs in
      try outputs.begin(path)
      let file = try ByteFile(outputs.location(of: path), for: path)
      try Array("whole".utf8).withUnsafeBytes { try file.write($0) }
      #expect(folder.names == [])
    }
    #expect(folder.names == ["o.mp4"])
    #expect(text(path) == "whole")
  }

  @Test("a failed run leaves no new file and changes no existing one")
  func failedRun() throws {
    let folder = try TemporaryFolder()
    let (path, pattern) = (folder.path("o.mp4"), folder.path("new/%03d.png"))
    try write("old", path)
    #expect(throws: Failure.self) {
      try Outputs.write(overwrites: true, inputs: []) { outputs in
        for output in [path, pattern] { try outputs.begin(output) }
        try write("half", outputs.location(of: path))
        try write("half", outputs.location(of: pattern).replacing("%03d", with: "001"))
        throw Failure()
      }
    }
    #expect(folder.names == ["o.mp4"])
    #expect(text(path) == "old")
  }

  @Test("an output without an extension is not accepted by a preset", arguments: ["out", "mp4", "a.mp4/mp4", "a.webm"])
  func presetExtension(_ name: String) throws {
    let place = OutputOptions.Place(name: "place", extensions: ["mp4"])
    let error = #expect(throws: RetrogradeError.self) { try place.check(name) }
    #expect(error?.message.contains("accepts only .mp4") ?? false)
    #expect(error?.code == .usage)
    try place.check("out.MP4")
  }

  @Test("an output that is never written is not created")
  func unwrittenOutput() throws {
    let folder = try TemporaryFolder()
    try Outputs.write(overwrites: false, inputs: []) { try $0.begin(folder.path("o.mp4")) }
    #expect(folder.names == [])
  }

  @Test("outputs work on a file system without unnamed files", arguments: [false, true])
  func namedTemporary(overwrites: Bool) throws {
    let folder = try TemporaryFolder()
    let place = OutputPlace(folder.path("o.mp4"))
    if overwrites { try write("old", place.path) }
    let dropped = try OutputFile(place, overwrites: overwrites, inputs: [], needsName: true)
    #expect(folder.names.contains { $0.hasPrefix(".retrograde-") })
    dropped.clear()
    #expect(folder.names == (overwrites ? ["o.mp4"] : []))
    let file = try OutputFile(place, overwrites: overwrites, inputs: [], needsName: true)
    try write("whole", file.location(of: place))
    try file.sync()
    try file.publish()
    file.clear()
    #expect(folder.names == ["o.mp4"])
    #expect(text(place.path) == "whole")
  }

  @Test("a file that another program creates during the run is not replaced", arguments: [false, true])
  func createdMeanwhile(needsName: Bool) throws {
    let folder = try TemporaryFolder()
    let place = OutputPlace(folder.path("o.mp4"))
    let file = try OutputFile(place, overwrites: false, inputs: [], needsName: needsName)
    _ = file.location(of: place)
    try write("theirs", place.path)
    let error = #expect(throws: RetrogradeError.self) { try file.publish() }
    #expect(error?.code == .cannotCreateOutput)
    file.clear()
    #expect(folder.names == ["o.mp4"])
    #expect(text(place.path) == "theirs")
  }

  @Test("either all outputs get their names, or none of them does")
  func allOrNothing() throws {
    let folder = try TemporaryFolder()
    let paths = ["o.mp4", "o.srt"].map(folder.path)
    #expect(throws: RetrogradeError.self) {
      try Outputs.write(overwrites: false, inputs: []) { outputs in
        for path in paths {
          try outputs.begin(path)
          _ = try outputs.location(of: path)
        }
        try write("theirs", paths[1])
      }
    }
    #expect(folder.names == ["o.srt"])
  }

  @Test("a replaced file is restored if another output fails", arguments: [false, true])
  func restoredFile(needsName: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("o.mp4")
    try Data("old".utf8).write(to: URL(fileURLWithPath: path))
    let file = try OutputFile(OutputPlace(path), overwrites: true, inputs: [], needsName: needsName)
    try Data("new".utf8).write(to: URL(fileURLWithPath: file.location(of: OutputPlace(path))))
    try file.sync()
    try file.publish()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
    #expect(file.rollBack() == nil)
    file.clear()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
    #expect(folder.names == ["o.mp4"])
  }

  @Test("a replaced file that cannot be restored keeps its content, and the message names it")
  func unrestoredFile() throws {
    let folder = try TemporaryFolder()
    let place = OutputPlace(folder.path("o.mp4"))
    try write("old", place.path)
    let file = try OutputFile(place, overwrites: true, inputs: [], needsName: false)
    try write("new", file.location(of: place))
    try file.sync()
    try file.publish()
    // Another program removes the new file, so the two files cannot be exchanged again.
    try FileManager.default.removeItem(atPath: place.path)
    let message = try #require(file.rollBack())
    file.clear()
    let name = try #require(folder.names.first)
    #expect(folder.names.count == 1 && message == "the previous file is now \(folder.path(name))")
    #expect(text(folder.path(name)) == "old")
  }

  @Test("the length of a name is counted in bytes")
  func longName() throws {
    let folder = try TemporaryFolder()
    let outputs = Outputs(overwrites: false, inputs: [])
    try outputs.begin(folder.path(String(repeating: "あ", count: 83) + ".mp4"))
    let error = #expect(throws: RetrogradeError.self) {
      try outputs.begin(folder.path(String(repeating: "あ", count: 84) + ".mp4"))
    }
    #expect(error?.code == .cannotCreateOutput)
    #expect(error?.message.contains("256 bytes") ?? false, "\(error?.message ?? "")")
    #expect(folder.names == [])
  }

  @Test("a folder in which no file can be created is refused before the run")
  func unwritableFolder() throws {
    let folder = try TemporaryFolder()
    try write("", folder.path("file"))
    let outputs = Outputs(overwrites: false, inputs: [])
    for (path, words) in [
      (folder.path("none/o.mp4"), "create it first"), (folder.path("file/o.mp4"), "is not a folder"),
      (folder.path("none/none/%d.png"), "create it first"), ("/proc/o.mp4", "can't be created"),
      (folder.url.path + "/", "the name of a file"),
    ] {
      let error = #expect(throws: RetrogradeError.self) { try outputs.begin(path) }
      #expect(error?.code == .cannotCreateOutput)
      #expect(error?.message.contains(words) ?? false, "\(error?.message ?? "")")
    }
  }

  @Test("a dangling symbolic link is not replaced without --overwrite")
  func danglingLink() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("o.mp4"), withDestinationPath: folder.path("none"))
    #expect(throws: RetrogradeError.self) {
      try Outputs(overwrites: false, inputs: []).begin(folder.path("o.mp4"))
    }
  }

  @Test("a new run of numbered files replaces only the files of the old run")
  func numberedFiles() throws {
    let folder = try TemporaryFolder()
    let pattern = folder.path("%03d.jpg")
    for name in ["001.jpg", "002.jpg", "003.jpg", "004.jpg"] { try write("old", folder.path(name)) }
    let others = ["1.jpg", "0001.jpg", "01a.jpg", "001.jpeg", "notes"]
    for name in others { try write("mine", folder.path(name)) }
    try Outputs.write(overwrites: true, inputs: []) { outputs in
      try outputs.begin(pattern)
      for name in ["001", "002"] {
        try write("new", outputs.location(of: pattern).replacing("%03d", with: name))
      }
      #expect(text(folder.path("004.jpg")) == "old", "until all is whole")
    }
    #expect(Set(folder.names) == Set(["001.jpg", "002.jpg"] + others))
    for name in others { #expect(text(folder.path(name)) == "mine") }
    #expect(text(folder.path("001.jpg")) == "new")
  }

  @Test("the old numbered files are restored if a rename fails")
  func failedRename() throws {
    let folder = try TemporaryFolder()
    let pattern = folder.path("%03d.jpg")
    for name in ["001.jpg", "002.jpg"] { try write("old", folder.path(name)) }
    #expect(throws: RetrogradeError.self) {
      try Outputs.write(overwrites: true, inputs: []) { outputs in
        try outputs.begin(pattern)
        for name in ["001", "003"] {
          try write("new", outputs.location(of: pattern).replacing("%03d", with: name))
        }
        try FileManager.default.createDirectory(atPath: folder.path("003.jpg"), withIntermediateDirectories: false)
      }
    }
    #expect(Set(folder.names) == ["001.jpg", "002.jpg", "003.jpg"])
    for name in ["001.jpg", "002.jpg"] { #expect(text(folder.path(name)) == "old") }
  }

  @Test("a numbered input file is not replaced")
  func numberedInput() throws {
    let folder = try TemporaryFolder()
    try write("mine", folder.path("001.jpg"))
    for input in [folder.path("001.jpg"), folder.path("%03d.jpg"), folder.path("00%d.jpg")] {
      let error = #expect(throws: RetrogradeError.self) {
        try Outputs(overwrites: true, inputs: [input]).begin(folder.path("%03d.jpg"))
      }
      #expect(error?.message.contains("is the input itself") ?? false)
    }
  }

  @Test("writing a GIF to a full disk is a write error")
  func fullDisk() throws {
    let colors = try Palette.Builder()
    let pixels = [UInt8](repeating: 255, count: 64 * 64 * 4)
    try pixels.withUnsafeBytes { try colors.add($0, width: 64, height: 64) }
    let palette = try Palette(colors)
    let error = #expect(throws: ImageError.self) {
      let file = try GIFFile("/dev/full", width: 64, height: 64, palette: palette)
      try file.add([UInt8](repeating: 0, count: 64 * 64), centiseconds: 2)
      try file.close()
    }
    #expect(error?.isWriting ?? false, "\(error?.message ?? "")")
  }
}
