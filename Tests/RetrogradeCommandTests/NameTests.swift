import Foundation
import GStreamer
import Glibc
import Paths
import Testing

@testable import RetrogradeCommand

/// File names that are not UTF-8: `é` is one byte, as in Latin-1.
@Suite struct NameTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try Command.makeClip(scratch.path("clip.mp4"), frames: 10)
    try #require(sh("mkdir in && cp clip.mp4 \"caf$e.mp4\"").status == 0)
  }

  /// Runs a shell script in the folder; `$e` is the byte 0xE9, `$r` the command.
  private func sh(_ script: String) throws -> Command.Result {
    try Command.run(
      ["-c", "cd \"$0\" || exit 99; r=$1; e=$(printf '\\351'); \(script)", scratch.url.path, Command.url.path],
      of: URL(fileURLWithPath: "/bin/sh"))
  }

  /// Returns the names in a folder. Bytes that are not UTF-8 are written as, for example, `\xe9`.
  private func names(in folder: String = "") -> Set<String> {
    Set((fileNames(in: scratch.path(folder)) ?? []).map(\.readablePath))
  }

  @Test("file names that are not UTF-8 work as input and output")
  func inputAndOutput() throws {
    let made = try sh("\"$r\" reverse \"caf$e.mp4\" \"out$e.mkv\" --quality lossless")
    #expect(made.status == 0 && made.errors.contains("out\\xe9.mkv: 10 frames"), "\(made.errors)")
    let verified = try sh("\"$r\" verify --lossless \"caf$e.mp4\" \"out$e.mkv\"")
    #expect(
      verified.status == 0 && verified.output.contains("out\\xe9.mkv is the mirror of caf\\xe9.mp4"), "\(verified)")
    let frame = try sh("\"$r\" frame \"caf$e.mp4\" 0.1s \"f$e.png\" && \"$r\" info \"caf$e.mp4\"")
    #expect(frame.status == 0 && frame.output.hasPrefix("caf\\xe9.mp4  "), "\(frame.errors)")
    #expect(names() == ["in", "clip.mp4", "caf\\xe9.mp4", "out\\xe9.mkv", "f\\xe9.png"])
    let refused = try sh("\"$r\" reverse \"caf$e.mp4\" \"out$e.mkv\"")
    #expect(refused.status == 73 && refused.errors.contains("out\\xe9.mkv: exists"), "\(refused.errors)")
    let missing = try sh("\"$r\" info \"none$e.mp4\"")
    #expect(missing.status == 66 && missing.errors.contains("none\\xe9.mp4: No such file"), "\(missing.errors)")
    let caption = try sh("\"$r\" reverse \"caf$e.mp4\" a.mp4 --caption \"caf$e\"")
    #expect(caption.status == 64 && caption.errors.contains("the caption is not UTF-8: caf\\xe9"), "\(caption.errors)")
  }

  @Test(
    "every format is written and read with a name that is not UTF-8",
    arguments: ["mkv", "gif", "webp", "apng", "ts", "wav", "flac"])
  func formats(name: String) throws {
    let result = try sh(
      "\"$r\" reverse \"caf$e.mp4\" \"a$e.\(name)\" --quiet && \"$r\" reverse \"a$e.\(name)\" \"b$e.mkv\" --quiet")
    #expect(result.status == 0 && names().isSuperset(of: ["a\\xe9.\(name)", "b\\xe9.mkv"]), "\(result.errors)")
  }

  @Test("names of images, subtitles, and work and spool folders need not be UTF-8")
  func otherFiles() throws {
    let images = try sh(
      "mkdir \"d$e\"; \"$r\" reverse \"caf$e.mp4\" \"d$e/%03d$e.png\" --quiet && \"$r\" reverse \"d$e/%03d$e.png\" \"i$e.mkv\""
    )
    #expect(images.status == 0 && images.errors.contains("i\\xe9.mkv: 10 frames"), "\(images.errors)")
    #expect(fileNames(in: scratch.path("") + String(pathBytes: [0x2F, 0x64, 0xE9]))?.count == 10)
    let subtitles = try sh(
      """
      printf '1\\n00:00:00,100 --> 00:00:00,200\\nHi\\n' > "s$e.srt"
      "$r" reverse "caf$e.mp4" "s$e.mkv" --subtitles "s$e.srt" --subtitles-output "o$e.srt" --spool-dir "d$e"
      """)
    #expect(subtitles.status == 0 && names().isSuperset(of: ["s\\xe9.mkv", "o\\xe9.srt"]), "\(subtitles.errors)")
    let chunks = try sh("\"$r\" reverse \"caf$e.mp4\" \"c$e.mp4\" --work \"w$e\"")
    #expect(chunks.status == 0 && names().contains("c\\xe9.mp4") && !names().contains("w\\xe9"), "\(chunks.errors)")
  }

  @Test("the outputs for the files of a folder keep the bytes of the file names")
  func folders() throws {
    // In Swift strings, U+10E0E9 stands for the byte 0xE9. A name that really contains U+10E0E9
    // belongs to another file.
    let result = try sh(
      """
      cp clip.mp4 "in/a$e.mp4"; cp clip.mp4 "in/a$(printf '\\364\\216\\203\\251').mp4"; : > "in/b$e.mp4"
      "$r" reverse in --into "out$e" --progress json
      """)
    #expect(result.status == 65)
    #expect(result.errors.contains("in/b\\\\xe9.mp4: is empty"), "\(result.errors)")
    #expect(try sh("mv \"out$e\" out").status == 0)
    #expect(names(in: "out") == ["a\\xe9.mp4", "a\\xf4\\x8e\\x83\\xa9.mp4"])
    let outputs = result.errors.split(separator: "\n").compactMap {
      (try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["output"] as? String
    }
    #expect(
      Set(outputs) == [
        "out\u{10E0E9}/a\u{10E0E9}.mp4", "out\u{10E0E9}/b\u{10E0E9}.mp4",
        "out\u{10E0E9}/a\u{10E0F4}\u{10E08E}\u{10E083}\u{10E0A9}.mp4",
      ])
    #expect(result.errors.contains("\"output\":\"out\\udbf8\\udce9/a\\udbf8\\udce9.mp4\""))
  }

  @Test("names that differ only in Unicode normalization are different files", arguments: [false, true])
  func spellings(isWatched: Bool) throws {
    let names = ["caf\u{e9}.mp4", "cafe\u{301}.mp4"]
    for name in names {
      try FileManager.default.copyItem(atPath: scratch.path("clip.mp4"), toPath: "\(scratch.url.path)/in/\(name)")
    }
    let arguments = isWatched ? ["--watch", scratch.path("in")] : [scratch.path("in")]
    let result = try Command.run(
      ["reverse", "--into", scratch.path("out"), "--progress", "json"] + arguments
    ) { process, nextLine in
      guard isWatched else { return }
      for _ in names { while let line = nextLine(), !line.contains("\"stage\":\"done\"") {} }
      kill(process.processIdentifier, SIGINT)
    }
    #expect(result.status == (isWatched ? 130 : 0), "\(result.errors)")
    let made = (fileNames(in: scratch.path("out")) ?? []).map(\.pathBytes).filter { $0.first != UInt8(ascii: ".") }
    #expect(Set(made) == Set(names.map(\.pathBytes)))
  }

  @Test("a file name may begin with a combining mark")
  func marks() throws {
    let result = try sh(
      "m=$(printf '\\314\\201'); cp clip.mp4 in/${m}a.mp4; \"$r\" reverse in --into \"in/$m\" --quiet")
    #expect(result.status == 0, "\(result.errors)")
    #expect(fileNames(in: scratch.path("in") + "/\u{301}") == ["\u{301}a.mp4"])
  }

  @Test("files in a watched folder may have names that are not UTF-8")
  func watched() throws {
    let result = try Command.run(
      ["reverse", "--watch", scratch.path("in"), "--into", scratch.path("out"), "--progress", "json"]
    ) { process, nextLine in
      while let line = nextLine(), !line.contains("\"watching\"") {}
      _ = try? sh("cp clip.mp4 \"in/a$e.mp4\"")
      while let line = nextLine(), !line.contains("\"stage\":\"done\"") {}
      kill(process.processIdentifier, SIGINT)
    }
    #expect(result.status == 130 && names(in: "out") == ["a\\xe9.mp4", ".retrograde-watch"], "\(result.errors)")
    let record = WatchRecordLine(try Data(contentsOf: scratch.url.appending(path: "out/.retrograde-watch")))
    #expect(record?.file.hasSuffix("in/a\u{10E0E9}.mp4") == true)
  }

  private struct WatchRecordLine: Decodable {
    var file: String
    init?(_ line: Data) {
      guard let own = try? JSONDecoder().decode(Self.self, from: line) else { return nil }
      self = own
    }
  }

  @Test("presets are found in a folder whose name is not UTF-8")
  func presets() throws {
    let presets = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "presets").path
    let result = try sh(
      """
      mkdir -p "x$e/retrograde/presets"; cp '\(presets)/whatsapp.gep' "x$e/retrograde/presets/mine.gep"
      XDG_DATA_HOME="$PWD/x$e" "$r" reverse "caf$e.mp4" "m$e.mp4" --for mine --quiet
      """)
    #expect(result.status == 0 && names().contains("m\\xe9.mp4"), "\(result.errors)")
  }

  @Test("a printed pipeline keeps the bytes of file names")
  func pipelines() throws {
    let result = try sh(
      "\"$r\" reverse \"caf$e.mp4\" \"p$e.mkv\" --print-pipeline > p && \"$r\" run p && grep -ac \"p$e.mkv\" p")
    #expect(result.status == 0 && result.output == "1\n", "\(result.errors)")
    #expect(names().contains("p\\xe9.mkv"))
  }

  @Test("a suggested command quotes the bytes of file names")
  func suggestions() throws {
    let result = try sh("\"$r\" split \"caf$e.mp4\" \"o$e.mp4\" --work \"w$e\" && \"$r\" join \"w$e\"")
    #expect(
      result.status == 64 && result.errors.contains("`retrograde work chunk $'w\\xe9'` makes the next one"),
      "\(result.errors)")
    for bytes in [Array("a b".utf8), [0xE9, 0x61], Array("a'\\\n\u{85}\u{7}1".utf8) + [0xFF], Array("é".utf8), []]
      as [[UInt8]]
    {
      let word = Shell.quoted(String(pathBytes: bytes))
      let shown = try Command.run(["-c", "printf %s \(word) | od -An -v -tu1"], of: URL(fileURLWithPath: "/bin/bash"))
      #expect(shown.output.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0) } == bytes, "\(word)")
    }
  }

  @Test("Slurm scripts keep the bytes of a folder's name")
  func scripts() throws {
    try #require(sh("mkdir \"w$e\"").status == 0)
    let folder = scratch.path("") + String(pathBytes: [0x2F, 0x77, 0xE9])
    let jobs = SlurmJobs(
      program: "/bin/echo", folder: folder, chunkCount: 1, wanted: [0], tasksAtMost: 10, chunkOptions: [], options: [])
    try jobs.writeScripts()
    let result = try sh("sh \"w$e/submit-join.sh\" | grep -ac \"/w$e\\$\"")
    #expect(result.output == "1\n", "\(result.errors)")
  }
}
