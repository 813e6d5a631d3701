import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Outputs that contain only frames: animations and numbered files.
@Suite struct ImageOutputTests {
  private func reverse(
    _ media: TestMedia, to name: String, in folder: TemporaryFolder, _ change: (inout ReverseOptions) -> Void = { _ in }
  ) async throws -> String {
    var options = ReverseOptions()
    change(&options)
    let output = folder.path(name)
    try await Reverser(try media.write(to: folder), options: options).reverse(to: output)
    return output
  }

  @Test("a ping-pong animation repeats forever and shows each turn once", arguments: ["gif", "webp", "apng"])
  func pingPong(_ format: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(12, rate: 10)
    media.sampleCount = 48_000
    media.audio = "avenc_aac"
    let output = try await reverse(media, to: "loop.\(format)", in: folder) { $0.playback.loop = .pingPong }
    let read = try DecodedAnimation(output)
    #expect(read.numbers == Array(0..<12) + (1..<11).reversed())
    #expect(read.delays == Array(repeating: 100, count: 22))
    #expect(read.loops == 0)
  }

  /// libwebp merges frames that look alike, and writes a still image if only one frame remains.
  @Test("frames that look alike are not merged", arguments: ["webp", "apng", "gif"], [5, 1])
  func equalFrames(_ format: String, rate: Int) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=128x96:r=\(rate):d=1", "-vf", "fps=10", "-c:v", "ffv1", folder.path("s.mkv")])
    var options = ReverseOptions()
    options.output.isVerified = true
    if format != "gif" { options.encoding.quality = .lossless }
    try await Reverser(folder.path("s.mkv"), options: options).reverse(to: folder.path("m.\(format)"))
    #expect(try DecodedAnimation(folder.path("m.\(format)")).delays == Array(repeating: 100, count: 10))
  }

  @Test("an animation repeats as often as its source", arguments: ["gif", "webp", "apng"], [0, 1, 4])
  func numberOfPlays(_ format: String, _ plays: Int) async throws {
    let folder = try TemporaryFolder()
    let repetitions = [0: "0", 1: "-1"][plays] ?? "\(plays - 1)"
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=128x96:r=10:d=0.5", "-loop", repetitions, folder.path("s.gif")])
    let mirror = folder.path("m.\(format)")
    let summary = try await Reverser(folder.path("s.gif")).reverse(to: mirror)
    let read = try DecodedAnimation(mirror)
    let expected: Int? = format != "gif" ? plays : [0: 0, 1: nil][plays] ?? plays - 1
    #expect(read.loops == expected && summary.warnings.isEmpty)
    #expect(try await Verifier(folder.path("s.gif"), mirror: mirror).verify().difference == nil)
    let film = try await Reverser(folder.path("s.gif")).reverse(to: folder.path("m.mp4"))
    #expect(film.warnings.contains { $0.message.contains("the animation plays (4)") } == (plays == 4))
    _ = try FFmpeg.bytes(["-i", folder.path("s.gif"), "-loop", plays == 0 ? "2" : "0", folder.path("other.gif")])
    let other = try await Verifier(
      folder.path("s.gif"), mirror: folder.path("other.gif"), options: .init(playback: .init(loop: .forward))
    ).verify()
    #expect(other.checks.filter { !$0.holds }.map(\.subject) == ["plays"])
  }

  /// Lossy WebP encodes the planes of 4:2:0 frames. At widths of 90 and 94, GStreamer pads the rows
  /// of the planes, and the encoder must skip the padding.
  @Test("grey frames stay grey in WebP of any size", arguments: [(90, 62), (94, 66), (128, 64)])
  func webpSizes(_ width: Int, _ height: Int) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    (media.width, media.height, media.times) = (width, height, TestMedia.regular(9, rate: 10))
    let read = try DecodedAnimation(try await reverse(media, to: "a.webp", in: folder))
    #expect(read.numbers == (0..<9).reversed() && (read.width, read.height) == (width, height))
    let isGrey = stride(from: 0, to: read.last.count, by: 4).allSatisfy {
      abs(Int(read.last[$0]) - Int(read.last[$0 + 2])) < 16
    }
    #expect(isGrey)
  }

  @Test("delays of a variable frame rate are reversed without drift")
  func variableDelays() async throws {
    let folder = try TemporaryFolder()
    // Uses FLV, which stores no durations. In Matroska, the duration of the last frame would depend
    // on the release of h264parse (`Quirk.h264parseDurations`).
    var media = TestMedia()
    (media.name, media.muxer) = ("source.flv", "flvmux")
    let milliseconds = [0, 33, 67, 100, 300, 333, 367, 700, 733]
    media.times = milliseconds.map { ClockTime(nanoseconds: Int64($0) * 1_000_000) }
    let webp = try DecodedAnimation(try await reverse(media, to: "a.webp", in: folder))
    #expect(webp.numbers == Array((0..<8).reversed()))
    #expect(webp.delays == [34, 333, 34, 33, 200, 33, 34, 33], "the last frame: the median of the others")
    let gif = try DecodedAnimation(try await reverse(media, to: "a.gif", in: folder))
    #expect(gif.delays == [30, 340, 30, 30, 200, 40, 30, 30], "in hundredths from the start")
  }

  @Test("animations are read with the delays in the file", arguments: ["gif", "webp", "apng"])
  func animationTimes(_ format: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = [0, 100, 150, 400, 420, 600].map { ClockTime(nanoseconds: Int64($0) * 1_000_000) }
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(try media.write(to: folder), options: options).reverse(to: folder.path("a.\(format)"))
    let before = try DecodedAnimation(folder.path("a.\(format)"))
    try await Reverser(folder.path("a.\(format)"), options: options).reverse(to: folder.path("b.\(format)"))
    let after = try DecodedAnimation(folder.path("b.\(format)"))
    #expect(before.numbers == [4, 3, 2, 1, 0] && after.numbers == [0, 1, 2, 3, 4])
    #expect(after.delays == before.delays.reversed())
  }

  @Test("a damaged animation does not crash")
  func damagedAnimations() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(3, rate: 25)
    let source = try media.write(to: folder)
    var generator = SeededGenerator(5)
    for format in ["webp", "apng"] {
      let path = folder.path("a.\(format)")
      try await Reverser(source).reverse(to: path)
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      for number in 0..<40 {
        var bytes = whole
        for _ in 0..<4 {
          bytes[Int.random(in: 16..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        if number == 0 { bytes.removeLast(bytes.count / 2) }
        if number == 1 { bytes.replaceSubrange(16..<24, with: Array(repeating: 0xFF, count: 8)) }
        try bytes.write(to: URL(fileURLWithPath: folder.path("d.\(format)")))
        do {
          try await Reverser(folder.path("d.\(format)")).reverse(to: folder.path("out\(number).\(format).mkv"))
        } catch {
          #expect(error is Retrograde::RetrogradeError)
        }
      }
    }
  }

  @Test("a thinned ping-pong shows the same frames in both directions")
  func thinnedPingPong() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(24, rate: 30)
    let output = try await reverse(media, to: "a.gif", in: folder) { options in
      options.playback.loop = .pingPong
      options.playback.frameRate = FrameRate(10, 1)
      options.encoding.width = 48
    }
    let read = try DecodedAnimation(output)
    #expect(read.numbers == [0, 3, 6, 9, 12, 15, 18, 21, 18, 15, 12, 9, 6, 3])
    #expect(read.delays.allSatisfy { $0 == 100 })
    #expect(read.width == 48 && read.height == 32)
  }

  @Test("a GIF from `MovieWriter` has the drawn colours")
  func gifColours() async throws {
    let folder = try TemporaryFolder()
    let movie = try await MovieWriter(
      folder.path("colour.gif"), width: 64, height: 48, frameRate: .usual, loop: .pingPong)
    for step in 0..<5 {
      try await movie.add { context in
        context.fill(Color(red: 0.9, green: 0.1, blue: 0.2))
        context.fill(
          Path(Rectangle(x: Double(step) * 10, y: 10, width: 10, height: 10)),
          with: .color(Color(red: 0, green: 0.4, blue: 0.9)))
      }
    }
    try await movie.finish()
    let read = try DecodedAnimation(folder.path("colour.gif"))
    #expect(read.delays == Array(repeating: 40, count: 8))
    let blue = (10 * 64 + 5) * 4
    let red = (40 * 64 + 5) * 4
    func isNear(_ place: Int, _ color: (Int, Int, Int)) -> Bool {
      abs(Int(read.first[place]) - color.0) < 6 && abs(Int(read.first[place + 1]) - color.1) < 6
        && abs(Int(read.first[place + 2]) - color.2) < 6
    }
    #expect(isNear(blue, (0, 102, 230)))
    #expect(isNear(red, (230, 26, 51)))
  }

  @Test("an object that moves over transparency leaves no trace", arguments: ["gif", "webp", "apng"])
  func transparentTrail(_ format: String) async throws {
    let folder = try TemporaryFolder()
    let size = 32
    for frame in 0..<3 {
      // A bar that moves to the right over transparent pixels.
      let pixels = (0..<size * size).flatMap { place -> [UInt8] in
        (frame * 10..<frame * 10 + 8).contains(place % size) ? [250, 20, 20, 255] : [0, 0, 0, 0]
      }
      let pipeline = try Pipeline(
        "appsrc name=in format=time caps=\"video/x-raw,format=RGBA,width=\(size),height=\(size),framerate=25/1\" ! pngenc ! "
          + "filesink location=\(folder.path("\(frame).png"))")
      pipeline.set(.playing)
      let source = try pipeline.appSource("in")
      let buffer = try Buffer(size: pixels.count) { $0.copyBytes(from: pixels) }
      buffer.stamp(pts: .zero, duration: .zero)
      _ = source.push(buffer)
      source.endOfStream()
      while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 10)) {
        if case .endOfStream = message { break }
      }
      pipeline.set(.null)
    }
    try await Reverser(folder.path("%d.png")).reverse(to: folder.path("a.\(format)"))
    let read = try DecodedAnimation(folder.path("a.\(format)"))
    func seen(_ pixels: [UInt8]) -> [Int] { (0..<size).filter { pixels[(5 * size + $0) * 4 + 3] > 128 } }
    #expect(seen(read.first) == Array(20..<28))
    #expect(seen(read.last) == Array(0..<8), "the first frame, without what was seen before")
  }

  @Test("numbered images are written and read")
  func numberedImages() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(15, rate: 25)
    let pattern = try await reverse(media, to: "new/%04d.png", in: folder)
    #expect(try ImageSequence.files(of: pattern) == Array(1...15))
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let back = folder.path("back.mkv")
    try await Reverser(pattern, options: options).reverse(to: back)
    let read = try DecodedMedia(back, like: media)
    #expect(read.numbers == Array(0..<15), "the mirror of the mirror")
    #expect(read.times == (0..<15).map { ClockTime(nanoseconds: $0 * 40_000_000) })
  }

  /// Colour types in a PNG header: 2 is RGB, 6 is RGBA, 0 is grey (PNG, 11.2.1).
  @Test(
    "images without transparency have no alpha channel",
    arguments: [("I420", 2), ("BGRx", 2), ("I420_10LE", 2), ("GRAY8", 0), ("RGBA", 6)])
  func opaqueImages(_ format: String, _ type: UInt8) async throws {
    let folder = try TemporaryFolder()
    try run(
      pipeline: "videotestsrc num-buffers=2 ! video/x-raw,format=\(format),width=64,height=48 ! "
        + (format == "RGBA"
          ? "pngenc ! multifilesink location=\(folder.path("in%d.png"))"
          : "avenc_ffv1 ! matroskamux ! filesink location=\(folder.path("in.mkv"))"))
    let source = folder.path(format == "RGBA" ? "in%d.png" : "in.mkv")
    try await Reverser(source).reverse(to: folder.path("%d.png"))
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("1.png"))))
    #expect(bytes[25] == type)
    try await Reverser(source).reverse(to: folder.path("%d.bmp"))
    let bitmap = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("1.bmp"))))
    #expect(bitmap[28] == [2: 24, 0: 8, 6: 32][type], "bits for each pixel")
  }

  @Test("video made from lossless images does not get the bit rate of the images")
  func bitrateFromImages() throws {
    func rate(_ codec: String) throws -> Int? {
      let caps = try #require(Caps(codec))
      let raw = try #require(Caps("video/x-raw,format=RGB,width=640,height=480,framerate=25/1"))
      let packets = (0..<25).map {
        VideoPacket(
          time: ClockTime(nanoseconds: Int64($0) * 40_000_000), duration: ClockTime(nanoseconds: 40_000_000),
          isKeyframe: true, bytes: 400_000, isHidden: false)
      }
      let index = VideoIndex(caps: caps, tags: nil, packets: packets, segmentEnd: nil)
      return try EncodingChoice(
        output: "a.mp4", .init(videos: [.init(raw: raw, index: index)], duration: .seconds(1), frameRate: 25),
        options: EncodingOptions()
      ).videos[0].bitrate
    }
    // A tenth of a bit per pixel, as for all lossless sources.
    #expect(try rate("image/png") == 768_000)
    #expect(try rate("video/x-h264") == 100_000_000)
  }

  @Test("images of another size are fitted to the first image")
  func mixedImageSizes() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(4, rate: 25)
    try await Reverser(try media.write(to: folder)).reverse(to: folder.path("a%d.png"))
    var small = ReverseOptions()
    small.encoding.width = 48
    try await Reverser(folder.path("source.mkv"), options: small).reverse(to: folder.path("b%d.png"))
    for (number, name) in ["a1", "a2", "b3", "b4"].enumerated() {
      try FileManager.default.copyItem(atPath: folder.path("\(name).png"), toPath: folder.path("c\(number).png"))
    }
    let summary = try await Reverser(folder.path("c%d.png")).reverse(to: folder.path("out.mkv"))
    #expect(summary.warnings.contains { $0.code == .converted })
    let read = try DecodedMedia(folder.path("out.mkv"), like: media)
    #expect(read.numbers == [0, 1, 2, 3] && read.videoCaps?.int("width") == 96)
  }

  @Test("the message names a missing numbered image")
  func missingImage() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(5, rate: 25)
    let pattern = try await reverse(media, to: "p/%d.jpg", in: folder)
    try FileManager.default.removeItem(atPath: folder.path("p/3.jpg"))
    let missing = await #expect(throws: RetrogradeError.self) {
      try await Reverser(pattern).reverse(to: folder.path("x.mp4"))
    }
    #expect(missing?.code == .noInput && missing?.message.contains("number 3 is missing") == true)
    let itself = await #expect(throws: RetrogradeError.self) { try await Reverser(pattern).reverse(to: pattern) }
    #expect(itself?.code == .cannotCreateOutput)
  }

  @Test("a cancelled run leaves no numbered images")
  func cancelledImages() async throws {
    let folder = try TemporaryFolder()
    let source = try TestMedia().write(to: folder)
    let reversal = Reverser(source).start(to: folder.path("new/%d.png"))
    reversal.cancel()
    _ = try? await reversal.summary()
    #expect(folder.names == ["source.mp4"])
  }

  @Test("thinning keeps the source frame at the first quarter of each output frame")
  func thinning() throws {
    var generator = SeededGenerator(4)
    for _ in 0..<300 {
      var time = Int64(0)
      let starts = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
        defer { time += Int64.random(in: 1_000_000...80_000_000, using: &generator) }
        return ClockTime(nanoseconds: time)
      }
      let whole = VideoTimeline(starts: starts, end: ClockTime(nanoseconds: time))
      let rate = try #require(FrameRate(Int.random(in: 1...60, using: &generator), 1))
      let (frames, timeline) = whole.thinned(to: rate, from: .zero)
      #expect(timeline.end == whole.end)
      #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })
      #expect(zip(timeline.starts, timeline.starts.dropFirst()).allSatisfy { $0 < $1 })
      for (frame, start) in zip(frames, timeline.starts) {
        let looked = start + ClockTime(nanoseconds: rate.start(of: 1).nanoseconds / 4)
        #expect(whole.span(of: frame).start <= looked && looked < whole.span(of: frame).end)
      }
    }
  }

  @Test("frame rates are parsed")
  func parsedRates() {
    #expect(FrameRate(parsing: "25")?.value == 25)
    #expect(FrameRate(parsing: "29.97") == FrameRate(30000, 1001))
    #expect(FrameRate(parsing: "24000/1001")?.start(of: 24) == ClockTime(nanoseconds: 1_001_000_000))
    #expect(FrameRate(parsing: "12.5")?.value == 12.5)
    for text in ["", "0", "-1", "x", "1/0", "25/", "1e9"] { #expect(FrameRate(parsing: text) == nil) }
  }
}
