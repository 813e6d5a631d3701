import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

/// `serve` with FFmpeg, playbin3 and a browser.
@Suite struct ServeTests {
  private static let programs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Programs")
  private let folder: TemporaryFolder
  private let frames = 90
  private var path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("a film.mp4")
    try write(rate: 30)
  }

  /// Writes the served film, at `rate` frames a second.
  private func write(rate: Int) throws {
    var media = TestMedia()
    (media.times, media.frameRate) = (TestMedia.regular(frames, rate: rate), "\(rate)/1")
    // The audio consists of whole AAC packets, 45 per second of video. So it is shorter than the
    // video, even with the encoder's priming.
    media.sampleCount = frames * 45 * 1024 / rate
    media.audio = "avenc_aac ! aacparse"
    let written = try media.write(to: folder)
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.moveItem(atPath: written, toPath: path)
  }

  /// Serves while `body` runs, and then ends the server with SIGINT, like Ctrl-C. `body` is called
  /// with the address of the page and the process ID of the server.
  private func serve(_ arguments: [String] = [], _ body: (_ address: String, _ process: Int32) throws -> Void) throws {
    let arguments = ["serve", path, "--port", "0", "--spool-dir", folder.url.path] + arguments
    let program = try Program(Command.url.path, arguments)
    let process = program.process
    defer { process.terminate() }
    let address = program.line() ?? ""
    try #require(address.hasPrefix("http://127.0.0.1:"), "\(program.errorLine() ?? "")")
    let page = try Program.succeed("/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{redirect_url}", address]).text
    try body(page, process.processIdentifier)
    kill(process.processIdentifier, SIGINT)
    #expect(program.end().status == 0)
    #expect(folder.names == [path.split(separator: "/").last.map(String.init)], "nothing is left")
  }

  /// Returns the number painted in each of the raw grey frames.
  private func numbers(_ raw: Data) -> [Int] {
    let size = 96 * 64
    return (0..<raw.count / size).map { frame in
      TestMedia.number(width: 96, height: 64) { x, y in raw[raw.startIndex + frame * size + y * 96 + x] }
    }
  }

  /// Each command serves until it is stopped.
  @Test("every command in serve.md starts a server")
  func documentedCommands() throws {
    let page = ServeTests.programs.deletingLastPathComponent().deletingLastPathComponent().appending(
      path: "docs/serve.md")
    let commands = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter {
      $0.hasPrefix("    retrograde ")
    }
    #expect(commands.count >= 4)
    try FileManager.default.createDirectory(atPath: folder.path("clips"), withIntermediateDirectories: true)
    for name in ["clip.mp4", "clips/clip.mp4"] {
      try FileManager.default.copyItem(atPath: path, toPath: folder.path(name))
    }
    for command in commands {
      // Port 0 chooses a free port, because all tests on a machine share its ports.
      let line = "exec \(Command.url.deletingLastPathComponent().path)/\(command.drop { $0 == " " }) --port 0"
      let program = try Program("/bin/sh", ["-c", line], in: folder.url)
      #expect(program.line()?.hasPrefix("http://127.0.0.1:") == true, "\(command)")
      kill(program.process.processIdentifier, SIGINT)
      #expect(program.end().status == 0)
    }
  }

  @Test(
    "an invalid source or option is an error",
    arguments: [
      (["serve"], 64), (["serve", "nothing.mp4"], 66), (["serve", "/etc/hostname"], 65),
      (["serve", ".", "--port", "65536"], 64),
      (["serve", ".", "--token", "short"], 64), (["serve", ".", "--heights", "0"], 64),
      (["serve", ".", "--score", "0..1", "--loop", "forward"], 64),
      (["serve", ".", "--start", "10f"], 64),
    ] as [([String], Int32)])
  func invalidArguments(arguments: [String], status: Int32) throws {
    let result = try Command.run(arguments)
    #expect(result.status == status, "\(result.errors)")
    #expect(result.output.isEmpty)
  }

  @Test("a crash of the child that reads a served file does not end the server")
  func crash() throws {
    try serve { page, process in
      func status() throws -> String {
        try Program.succeed("/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "\(page)usual/info.json"])
          .text
      }
      #expect(try status() == "200")
      let child = try #require(FileManager.default.children(of: process).first)
      kill(child, SIGSEGV)
      // The child disappears when the server has reaped it.
      while FileManager.default.fileExists(atPath: "/proc/\(child)") {}
      // The status is 415 if the child was already making the first segment, because the server
      // does not reopen a file whose segment crashed.
      #expect(["200", "415"].contains(try status()))
    }
  }

  @Test("FFmpeg and playbin3 read the film to its end")
  func players() throws {
    // The film lasts 45 seconds, because hlsdemux2 buffers 30 seconds (`max-buffering-time`) before
    // it waits for playback. hlsdemux2 fails on a film that it has buffered completely before its
    // first output ("Can't push EOS on non-exposed pad", gst_adaptive_demux2_stream_end_of_manifest
    // in gstadaptivedemux-stream.c, 1.22 and main).
    try write(rate: 2)
    try serve { page, _ in
      let raw = folder.path("raw")
      defer { try? FileManager.default.removeItem(atPath: raw) }
      let top = try #require(URL(string: "/master.m3u8", relativeTo: URL(string: page)))
      _ = try Program.succeed(
        "/usr/bin/ffmpeg",
        [
          "-v", "error", "-y", "-i", top.absoluteString, "-map", "0:v", "-fps_mode", "passthrough", "-f", "rawvideo",
          "-pix_fmt", "gray", raw,
        ])
      let read = numbers(try Data(contentsOf: URL(fileURLWithPath: raw)))
      #expect(read == (0..<frames).reversed(), "\(read)")
      try run(
        pipeline: "playbin3 uri=\(page)master.m3u8 audio-sink=\"fakesink sync=false\" "
          + "video-sink=\"videoconvert ! video/x-raw,format=GRAY8 ! filesink location=\(raw)\"")
      let played = numbers(try Data(contentsOf: URL(fileURLWithPath: raw)))
      #expect(played == (0..<frames).reversed(), "\(played)")
    }
  }

  @Test("a browser plays, steps, seeks and downloads")
  func browser() throws {
    let downloads = try TemporaryFolder()
    try serve { page, _ in
      let text = try Program.succeed(
        "/usr/bin/python3",
        [ServeTests.programs.appending(path: "browser.py").path, page, "\(frames)", "30", downloads.url.path]
      ).text
      let seen = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      #expect(seen["first"] as? Int == 89)
      #expect(seen["steps"] as? [Int] == [88, 87, 88, 87])
      #expect(seen["seeks"] as? [Int] == [0, 82, 44, 89])
      let played = try #require(seen["played"] as? [[Int]])
      // The painted frame may be the frame after the reported one, because the callback is "best
      // effort" (https://wicg.github.io/video-rvfc/).
      #expect(played.allSatisfy { (88...89).contains($0[0] + $0[1]) }, "\(played)")
      #expect(played.count { $0[0] + $0[1] == 89 } > 45, "\(played)")
      #expect(played.last == [89, 0])
      #expect(seen["ping-pong"] as? [Int] == [0, 89, 88, 0])
      let info = try #require(seen["page"] as? [Any])
      #expect(info.first as? String == "a film.mp4")
      #expect(info[1] as? Double == 3)
      #expect(info[2] as? String == "slider")
      #expect(info[3] as? String == "3")
      #expect(info[4] as? String == "0:00 of 0:03")
      #expect(info[5] as? Int == 0, "every button has a name")
      let command = try #require(seen["command"] as? String)
      #expect(command.hasPrefix("retrograde reverse '\(path)' 'a film (reverse).mp4' --start 1.66666"), "\(command)")
      #expect(seen["said"] as? String == "")
      #expect(seen["complaints"] as? [String] == [])
      #expect(seen["file"] as? [String] == ["a film (reverse).mp4"])
      let file = downloads.path("file.mp4")
      try FileManager.default.moveItem(atPath: downloads.path("a film (reverse).mp4"), toPath: file)
      #expect(try DecodedMedia(file, like: TestMedia()).numbers == (50..<80).reversed())
    }
  }

  @Test("pages of other sites and ports can link to the page, but cannot start work")
  func foreignPages() throws {
    try serve { page, _ in
      let text = try Program.succeed(
        "/usr/bin/python3", [ServeTests.programs.appending(path: "foreign.py").path, page]
      ).text
      let seen = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]])
      #expect(seen.count == 4)
      for (site, found) in seen {
        // A host name that does not belong to this machine is refused even for requests from its
        // own pages.
        let isOtherName = site.hasSuffix("films.test")
        #expect(found["answers"] as? [Int] == [isOtherName ? 421 : 403], "\(site)")
        // The browser already has the page in its cache when the next site links to the page.
        let link = try #require(found["link"] as? [Int])
        #expect(isOtherName ? link == [421] : [[200], [304]].contains(link), "\(site)")
        let ways = ["cors", "embed", "iframe", "img", "nocors", "object", "prefetch", "script", "style", "video"]
        #expect(found["ways"] as? [String] == ways, "\(site)")
      }
    }
  }

  /// The browser plays VP9 for a VP9 source, unless the user selects another rendition during
  /// playback.
  @Test("a browser plays the codec of the source")
  mutating func sourceCodec() throws {
    var media = TestMedia()
    (media.times, media.frameRate) = (TestMedia.regular(frames, rate: 30), "30/1")
    (media.video, media.muxer) = ("vp9enc deadline=1 cpu-used=8 lag-in-frames=0", "webmmux")
    media.sampleCount = 0
    try FileManager.default.removeItem(atPath: path)
    path = folder.path("film.webm")
    try FileManager.default.moveItem(atPath: media.write(to: folder), toPath: path)
    try serve { page, _ in
      let text = try Program.succeed(
        "/usr/bin/python3", [ServeTests.programs.appending(path: "codecs.py").path, page, "64"]
      ).text
      let seen = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      #expect(seen["first"] as? Int == 89)
      #expect(seen["sizes"] as? [String] == ["as fits", "64p", "64p (VP9)"])
      #expect(seen["own"] as? [Int] == [39, 79])
      #expect(seen["asked"] as? [String] == ["64-vp9"])
      #expect(seen["other"] as? [Int] == [29, 69])
      #expect(seen["asked then"] as? [String] == ["64-vp9", "64"])
      #expect(seen["complaints"] as? [String] == [])
      let list = try Program.succeed("/usr/bin/curl", ["-s", page + "master.m3u8"]).text
      #expect(list.contains("/64/media.m3u8") && !list.contains("vp9"), "players may not change the codec")
    }
  }

  @Test("chapters, captions and the keys J, K and L work in a browser")
  mutating func chaptersAndKeys() throws {
    for (name, text) in [
      ("text.srt", "1\n00:00:00,200 --> 00:00:00,800\nearly\n\n2\n00:00:02,200 --> 00:00:02,800\nlate\n"),
      (
        "chapters",
        ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=A\n[CHAPTER]\nTIMEBASE=1/1\nSTART=1\nEND=3\ntitle=B\n"
      ),
    ] { try text.write(toFile: folder.path(name), atomically: true, encoding: .utf8) }
    _ = try Program.succeed(
      "/usr/bin/ffmpeg",
      [
        "-v", "error", "-i", path, "-i", folder.path("text.srt"), "-i", folder.path("chapters"), "-map", "0:v", "-map",
        "0:a", "-map", "1", "-map_metadata", "2", "-c", "copy", folder.path("film.mkv"),
      ])
    for name in folder.names where name != "film.mkv" { try FileManager.default.removeItem(atPath: folder.path(name)) }
    path = folder.path("film.mkv")
    try serve { page, _ in
      let text = try Program.succeed("/usr/bin/python3", [ServeTests.programs.appending(path: "keys.py").path, page])
        .text
      let seen = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      #expect(seen["chapters"] as? [String] == ["0:00  B", "0:02  A"])
      #expect(seen["places"] as? [Int] == [29, 89, 29])
      #expect(seen["captions"] as? [String] == ["late", "", "early", "disabled"])
      let there = try #require(seen["there"] as? [Any])
      #expect(there[0] as? Int == 73)
      #expect(there[1] as? Bool == true)
      let on = there.dropFirst(2).compactMap { $0 as? Int }
      #expect(on.count == 5 && on == on.sorted() && (73...77).contains(on[0]), "\(on)")
      let back = try #require(seen["back"] as? [Any])
      #expect(back[0] as? Double == 2)
      #expect(back[1] as? Bool == true)
      let off = back.dropFirst(2).compactMap { $0 as? Int }
      #expect(off.count == 5 && off == off.sorted(by: >) && off[0] <= (on.last ?? 0) + 2, "\(off)")
      #expect(seen["complaints"] as? [String] == [])
    }
  }
}
