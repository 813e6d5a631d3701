import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// HTTP Live Streaming and MPEG-DASH, from a server and from a folder.
@Suite struct PlaylistTests {
  /// Writes an HLS playlist of six seconds, in three segments of two seconds.
  private func hls(_ folder: TemporaryFolder) throws -> String {
    try TestSupport.run(
      pipeline: """
        hlssink2 name=hls target-duration=2 playlist-length=0 max-files=0 location=\(folder.path("s%d.ts")) \
        playlist-location=\(folder.path("list.m3u8"))
        videotestsrc num-buffers=150 pattern=ball ! video/x-raw,width=96,height=64,framerate=25/1 ! \
        x264enc key-int-max=50 speed-preset=ultrafast ! h264parse ! queue ! hls.video
        audiotestsrc num-buffers=120 samplesperbuffer=2400 ! audio/x-raw,rate=48000,channels=2 ! avenc_aac ! aacparse ! queue ! hls.audio
        """)
    return folder.path("list.m3u8")
  }

  private func segments(_ folder: TemporaryFolder) throws -> Data {
    try (0..<folder.names.count).reduce(into: Data()) { all, number in
      let url = folder.url.appending(path: "s\(number).ts")
      if FileManager.default.fileExists(atPath: url.path) { all += try Data(contentsOf: url) }
    }
  }

  @Test("the source consists of the joined bytes of all segments")
  func joinedSegments() async throws {
    let folder = try TemporaryFolder()
    let list = try hls(folder)
    let whole = try segments(folder)
    let server = try WebServer(folder)
    for name in [list, server.address("list.m3u8"), URL(fileURLWithPath: list).absoluteString] {
      let fetched = try #require(try FetchedFile(name, Resources(), Cancellation()))
      #expect(FileManager.default.contents(atPath: fetched.path) == whole, "\(name)")
    }
    try await Reverser(server.address("list.m3u8")).reverse(to: folder.path("o.mkv"))
    try whole.write(to: folder.url.appending(path: "whole.ts"))
    #expect(try await Verifier(folder.path("whole.ts"), mirror: folder.path("o.mkv")).verify().isMirror)
  }

  @Test("the variant with the highest bit rate is read, from its first segment")
  func bestVariant() async throws {
    let folder = try TemporaryFolder()
    _ = try hls(folder)
    let whole = try segments(folder)
    try Data("#EXTM3U\n#EXTINF:2,\nnone.ts\n#EXT-X-ENDLIST\n".utf8).write(to: folder.url.appending(path: "worse.m3u8"))
    let master =
      "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=90000\nworse.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=800000\nlist.m3u8\n"
    try Data(master.utf8).write(to: folder.url.appending(path: "master.m3u8"))
    let server = try WebServer(folder)
    let fetched = try #require(try FetchedFile(server.address("master.m3u8"), Resources(), Cancellation()))
    #expect(FileManager.default.contents(atPath: fetched.path) == whole)
  }

  @Test("a missing segment is an error, and does not just shorten the output", arguments: ["s1.ts", "s2.ts"])
  func missingSegment(name: String) async throws {
    let folder = try TemporaryFolder()
    let list = try hls(folder)
    try FileManager.default.removeItem(atPath: folder.path(name))
    let server = try WebServer(folder)
    for (address, code) in [(server.address("list.m3u8"), RetrogradeError.Code.inputOutput), (list, .noInput)] {
      let error = await #expect(throws: RetrogradeError.self) { try await Reverser(address).plan() }
      #expect(error?.code == code && error?.description.contains(name) == true, "\(error as Any)")
    }
  }

  @Test("a truncated segment is an error, and does not just shorten the output")
  func truncatedSegment() async throws {
    let folder = try TemporaryFolder()
    let list = try hls(folder)
    let server = try WebServer(folder)
    let text = try String(contentsOfFile: list, encoding: .utf8)
    try Data(text.replacingOccurrences(of: "s1.ts", with: "/cut/s1.ts").utf8).write(
      to: folder.url.appending(path: "cut.m3u8"))
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(server.address("cut.m3u8")).plan()
    }
    #expect(error?.code == .inputOutput, "\(error as Any)")
  }

  @Test("a live stream is refused")
  func liveStream() async throws {
    let folder = try TemporaryFolder()
    let list = try hls(folder)
    let text = try String(contentsOfFile: list, encoding: .utf8).replacingOccurrences(of: "#EXT-X-ENDLIST", with: "")
    try Data(text.utf8).write(to: folder.url.appending(path: "live.m3u8"))
    try Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=90000\nlive.m3u8\n".utf8).write(
      to: folder.url.appending(path: "master.m3u8"))
    try Data("<?xml version=\"1.0\"?>\n<MPD type=\"dynamic\" xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>\n".utf8)
      .write(
        to: folder.url.appending(path: "live.mpd"))
    let server = try WebServer(folder)
    for name in ["live.m3u8", "master.m3u8", "live.mpd"] {
      for address in [server.address(name), folder.path(name)] {
        let error = await #expect(throws: RetrogradeError.self) { try await Reverser(address).plan() }
        #expect(error?.description.contains("is a live stream") == true, "\(address): \(error as Any)")
      }
    }
  }

  /// Writes fragmented MP4 files of video and of audio, each split into an initialization segment
  /// and one media segment.
  private func fragments(_ folder: TemporaryFolder) throws -> TestMedia {
    var media = TestMedia()
    (media.name, media.muxer, media.frameRate) = ("v.mp4", "mp4mux fragment-duration=500", "30/1")
    media.video = "x264enc key-int-max=20 speed-preset=ultrafast pass=qual quantizer=18 ! h264parse"
    var audio = TestMedia.audioOnly(
      "a.mp4", "avenc_aac ! aacparse", muxer: "mp4mux fragment-duration=500", sampleCount: 96_000)
    audio.channels = 1
    for (name, path) in [("v", try media.write(to: folder)), ("a", try audio.write(to: folder))] {
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      let first = try #require(whole.range(of: Data("moof".utf8))).lowerBound - 4
      try whole.prefix(first).write(to: folder.url.appending(path: "\(name).init"))
      try whole.dropFirst(first).write(to: folder.url.appending(path: "\(name).m4s"))
    }
    return media
  }

  private func check(_ address: String, _ media: TestMedia, _ folder: TemporaryFolder) async throws {
    var options = ReverseOptions()
    options.output.overwrites = true
    options.encoding.quality = .lossless
    let summary = try await Reverser(address, options: options).reverse(to: folder.path("o.mkv"))
    let read = try DecodedMedia(folder.path("o.mkv"), like: media)
    #expect(read.numbers == (0..<60).reversed(), "\(address)")
    #expect(
      summary.warnings.isEmpty && summary.samples.first.map { (96_000...98_100).contains($0) } == true, "\(summary)")
  }

  /// The best variant has all frames. The segments of the other variants do not exist.
  @Test("the best variant of a DASH manifest is read")
  func dashVariant() async throws {
    let folder = try TemporaryFolder()
    let media = try fragments(folder)
    func representation(_ name: String, _ rate: Int, _ file: String) -> String {
      "<Representation id=\"\(name)\" bandwidth=\"\(rate)\"><SegmentList timescale=\"1\" duration=\"2\"><Initialization "
        + "sourceURL=\"\(file).init\"/><SegmentURL media=\"\(file).m4s\"/></SegmentList></Representation>"
    }
    let manifest =
      "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" mediaPresentationDuration=\"PT2S\" "
      + "minBufferTime=\"PT1S\" profiles=\"urn:mpeg:dash:profile:isoff-main:2011\"><Period><AdaptationSet mimeType=\"video/mp4\">"
      + representation("low", 1000, "none") + representation("high", 90_000, "v") + representation("lower", 500, "none")
      + "</AdaptationSet><AdaptationSet mimeType=\"audio/mp4\">" + representation("audio", 6000, "a")
      + "</AdaptationSet></Period></MPD>\n"
    try Data(manifest.utf8).write(to: folder.url.appending(path: "d.mpd"))
    let server = try WebServer(folder)
    try await check(server.address("d.mpd"), media, folder)
    try await check(folder.path("d.mpd"), media, folder)
    try FileManager.default.removeItem(atPath: folder.path("a.m4s"))
    for address in [server.address("d.mpd"), folder.path("d.mpd")] {
      await #expect(throws: RetrogradeError.self) { try await Reverser(address).plan() }
    }
  }

  @Test("audio in a separate HLS playlist is read with the video")
  func separateAudio() async throws {
    let folder = try TemporaryFolder()
    let media = try fragments(folder)
    for name in ["v", "a"] {
      let list =
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"\(name).init\"\n#EXTINF:2,\n\(name).m4s\n#EXT-X-ENDLIST\n"
      try Data(list.utf8).write(to: folder.url.appending(path: "\(name).m3u8"))
    }
    let master =
      "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"one\",DEFAULT=YES,URI=\"a.m3u8\"\n"
      + "#EXT-X-STREAM-INF:BANDWIDTH=90000,AUDIO=\"g\"\nv.m3u8\n"
    try Data(master.utf8).write(to: folder.url.appending(path: "master.m3u8"))
    let server = try WebServer(folder)
    for address in [server.address("master.m3u8"), folder.path("master.m3u8")] {
      try await check(address, media, folder)
    }
  }

  private static let outsideAddresses = [
    "http://example.invalid/0.ts", "/etc/hostname", "../s0.ts", "file:///etc/hostname", "a/%2e%2e/%2e%2e/s0.ts",
  ]

  /// An untrusted playlist must not cause other files to be read, or requests to be sent.
  @Test("a local playlist may name only files in its own folder", arguments: outsideAddresses)
  func localPlaylist(address: String) async throws {
    let folder = try TemporaryFolder()
    func write(_ name: String, _ text: String) throws {
      try Data(text.utf8).write(to: folder.url.appending(path: name))
    }
    try write("hls.m3u8", "#EXTM3U\n#EXTINF:5,\n\(address)\n#EXT-X-ENDLIST\n")
    try write("key.m3u8", "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(address)\"\n#EXTINF:5,\ns0.ts\n#EXT-X-ENDLIST\n")
    try write("master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=90000\nhls.m3u8\n")
    try write("dash.mpd", "<?xml version=\"1.0\"?>\n<MPD type=\"static\"><BaseURL>\(address)</BaseURL></MPD>\n")
    try write("s0.ts", "")
    for name in ["hls.m3u8", "key.m3u8", "master.m3u8", "dash.mpd"] {
      let error = await #expect(throws: RetrogradeError.self) { try await Reverser(folder.path(name)).plan() }
      #expect(error?.description.contains("outside its own folder: \(address)") == true, "\(name): \(error as Any)")
    }
  }

  @Test(
    "a manifest with too many segments is refused",
    arguments: [
      #"<SegmentTemplate timescale="10000000" duration="1" media="s$Number$.mp4" initialization="i.mp4"/>"#,
      #"<SegmentTemplate timescale="1" media="s$Time$.mp4"><SegmentTimeline>"#
        + #"<S t="0" d="2" r="10000000000000"/></SegmentTimeline></SegmentTemplate>"#,
    ])
  func endlessManifest(_ template: String) async throws {
    let folder = try TemporaryFolder()
    let manifest = """
      <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT23H56M4.1S" \
      profiles="urn:mpeg:dash:profile:isoff-live:2011"><Period><AdaptationSet mimeType="video/mp4">\(template)\
      <Representation id="v" codecs="avc1.42c01e" bandwidth="100000" width="64" height="48"/>\
      </AdaptationSet></Period></MPD>
      """
    try Data(manifest.utf8).write(to: folder.url.appending(path: "a.mpd"))
    await #expect(throws: RetrogradeError.self) {
      do {
        try await Reverser(folder.path("a.mpd")).reverse(to: folder.path("m.mkv"))
      } catch let error as RetrogradeError {
        #expect(error.message.contains("1000000 segments"))
        throw error
      }
    }
  }

  @Test(
    "invalid byte ranges, and byte ranges outside the segment's file, are refused",
    arguments: [
      ("40@0", nil), ("40@60", nil), ("188@99999999", "that file has only"), ("40@61", "that file has only"),
      ("9223372036854775807@1", "that file has only"), ("0@0", "invalid byte range"), ("x", "invalid byte range"),
      ("18446744073709551615@18446744073709551615", "invalid byte range"),
    ] as [(String, String?)])
  func byteRanges(range: String, failure: String?) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.m3u8")
    try Data(count: 100).write(to: folder.url.appending(path: "s.mp4"))
    for tags in [
      "#EXTINF:1,\n#EXT-X-BYTERANGE:\(range)\ns.mp4\n#EXTINF:1,\ns.mp4\n",
      "#EXT-X-MAP:URI=\"s.mp4\",BYTERANGE=\"\(range)\"\n#EXTINF:1,\ns.mp4\n",
    ] {
      let playlist = try #require(Playlist(Array("#EXTM3U\n\(tags)#EXT-X-ENDLIST\n".utf8)))
      guard let failure else {
        try playlist.checkNames(in: path)
        continue
      }
      let error = #expect(throws: RetrogradeError.self) { try playlist.checkNames(in: path) }
      #expect(error?.code == .damagedInput && error?.subject == path)
      #expect(error?.message.contains(failure) == true, "\(error as Any)")
      #expect(error?.message.contains(range) == true, "\(error as Any)")
    }
  }

  @Test("a byte range without an offset begins at the end of the previous range")
  func consecutiveByteRanges() throws {
    let folder = try TemporaryFolder()
    try Data(count: 100).write(to: folder.url.appending(path: "s.ts"))
    func check(_ lengths: [Int]) throws {
      let tags = lengths.map { "#EXTINF:1,\n#EXT-X-BYTERANGE:\($0)\ns.ts\n" }.joined()
      try #require(Playlist(Array("#EXTM3U\n\(tags)#EXT-X-ENDLIST\n".utf8))).checkNames(in: folder.path("a.m3u8"))
    }
    try check([50, 50])
    #expect(throws: RetrogradeError.self) { try check([50, 51]) }
  }

  @Test("very long words in a manifest are parsed in linear time")
  func longWords() throws {
    let word = String(repeating: "1", count: 200_000)
    let text =
      #"<MPD mediaPresentationDuration="PT\#(word)S"><SegmentTemplate \#(word) duration="1"><S \#(word)/></MPD>"#
    #expect(try #require(Playlist(Array(text.utf8))).promisedSegments == 1)
  }

  @Test("a playlist that refers to itself is refused", arguments: ["a.m3u8", "./a.m3u8", "b.m3u8"])
  func circularPlaylist(name: String) async throws {
    let folder = try TemporaryFolder()
    let head = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n"
    try Data("\(head)\(name)\n".utf8).write(to: folder.url.appending(path: "a.m3u8"))
    try Data("\(head)a.m3u8\n".utf8).write(to: folder.url.appending(path: "b.m3u8"))
    let error = await #expect(throws: RetrogradeError.self) { try await Reverser(folder.path("a.m3u8")).plan() }
    #expect(error?.code == .damagedInput)
    #expect(error?.description.contains("refers to itself") == true, "\(error as Any)")
  }

  @Test("a playlist that names a pipe is refused without waiting for a writer", .timeLimit(.minutes(10)))
  func namedPipe() async throws {
    let folder = try TemporaryFolder()
    try Data("#EXTM3U\n#EXTINF:1,\ns0.ts\n#EXT-X-ENDLIST\n".utf8).write(to: folder.url.appending(path: "a.m3u8"))
    try #require(mkfifo(folder.path("s0.ts"), 0o600) == 0)
    let error = await #expect(throws: RetrogradeError.self) { try await Reverser(folder.path("a.m3u8")).plan() }
    #expect(error?.code == .noInput)
    #expect(error?.description.contains("neither a file nor a folder") == true, "\(error as Any)")
  }

  /// If every name caused another read, this test would read 500³ times.
  @Test("a playlist that is named many times is read once", .timeLimit(.minutes(10)))
  func repeatedName() throws {
    let folder = try TemporaryFolder()
    for (number, next) in ["1.m3u8", "2.m3u8", "3.m3u8", "s.ts"].enumerated() {
      let names = String(repeating: "\(next)\n", count: 500)
      try Data("#EXTM3U\n#EXTINF:1,\n\(names)".utf8).write(to: folder.url.appending(path: "\(number).m3u8"))
    }
    try Data().write(to: folder.url.appending(path: "s.ts"))
    let path = folder.path("0.m3u8")
    try Playlist(path: path)?.checkNames(in: path)
  }

  @Test("a remote playlist can't name local files", arguments: ["file:///etc/hostname", "data:,abc"])
  func remotePlaylist(address: String) async throws {
    let folder = try TemporaryFolder()
    try Data("#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n\(address)\n#EXT-X-ENDLIST\n".utf8).write(
      to: folder.url.appending(path: "list.m3u8"))
    let server = try WebServer(folder)
    let error = await #expect(throws: RetrogradeError.self) { try await Reverser(server.address("list.m3u8")).plan() }
    #expect(error?.description.contains("refers to a URL that is neither http nor https") == true, "\(error as Any)")
  }
}
