import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

@Suite struct SizeLimitTests {
  @Test("the first animation level that meets the size limit is found in few tries")
  func levelSearch() throws {
    var generator = SeededGenerator(7)
    for _ in 0..<300 {
      let levels = AnimationLevel.ladder(Bool.random(using: &generator) ? .gif : .webp, from: AnimationLevel())
      var sizes = (0..<levels.count).map { _ in Int.random(in: 1...1000, using: &generator) }.sorted(by: >)
      sizes[0] = max(sizes[0], 2)
      let limit = Int.random(in: 1...1100, using: &generator)
      var made: [Double] = []
      func place(_ level: AnimationLevel) -> Int {
        levels.firstIndex {
          $0.scale == level.scale && $0.step == level.step && $0.colors == level.colors && $0.quality == level.quality
            && $0.tolerance == level.tolerance && $0.dither == level.dither
        } ?? 0
      }
      let search = SizeSearch(limit: limit, levels: levels)
      let found = try #require(
        try search.run {
          made.append(Double(place($0)))
          return sizes[place($0)]
        })
      #expect(made.count <= search.mostTries && found.tries == made.count)
      if let first = sizes.firstIndex(where: { $0 <= limit }) {
        #expect(place(found.level) == first && found.size == sizes[first])
        #expect(made.last == Double(first), "the last result is kept")
      } else {
        #expect(found.size == sizes.last, "the smallest that there is")
      }
    }
  }

  @Test("no animation level has a better setting than the level before")
  func levelOrder() {
    for format in [AnimationFormat.gif, .webp] {
      for first in [AnimationLevel(), AnimationLevel(colors: 40, dither: 0, quality: 50)] {
        let levels = AnimationLevel.ladder(format, from: first)
        for (a, b) in zip(levels, levels.dropFirst()) {
          #expect(b.colors <= a.colors && b.quality <= a.quality && b.scale <= a.scale && b.step >= a.step)
          #expect(b.dither <= a.dither && b.tolerance >= a.tolerance)
        }
      }
    }
  }

  /// Writes a video of noise, which does not compress.
  private func noise(_ folder: TemporaryFolder, frames: Int = 12, width: Int = 160, audio: Bool = false) throws
    -> String
  {
    let path = folder.path("noise.mkv")
    try run(
      pipeline: "matroskamux name=m ! filesink location=\(path) videotestsrc pattern=snow num-buffers=\(frames) ! "
        + "video/x-raw,format=I420,width=\(width),height=\(width * 3 / 4),framerate=25/1 ! avenc_ffv1 ! m. "
        + (audio
          ? "audiotestsrc wave=white-noise num-buffers=\(frames) samplesperbuffer=1920 ! audio/x-raw,rate=48000,channels=2 ! "
            + "flacenc ! m." : ""))
    return path
  }

  private func size(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  @Test("animations are reduced to the size limit", arguments: ["gif", "webp"])
  func animations(_ format: String) async throws {
    let folder = try TemporaryFolder()
    let source = try noise(folder)
    let path = folder.path("a.\(format)")
    var options = ReverseOptions()
    options.output.overwrites = true
    #expect(try await Reverser(source, options: options).reverse(to: path).warnings.isEmpty)
    let usual = try size(path)
    options.encoding.maxSize = ByteCount(usual)
    #expect(try await Reverser(source, options: options).reverse(to: path).warnings.isEmpty)
    #expect(try size(path) == usual, "nothing is given up for what fits")
    options.encoding.maxSize = ByteCount(usual / 5)
    let summary = try await Reverser(source, options: options).reverse(to: path)
    #expect(try size(path) <= usual / 5)
    let words = summary.warnings.map(\.message.description).joined()
    #expect(words.contains("reduced for `encoding.maxSize`") && words.contains("pixels instead of 160"))
    let read = try DecodedAnimation(path)
    let written = try #require(summary.written?.streams.first)
    #expect(written.width == read.width && written.height == read.height && summary.frames == read.delays.count)
    #expect(read.width < 160 && read.width * 3 / 4 - read.height < 2)
    #expect(read.delays.reduce(0, +) == 480, "as long as it was")
    options.encoding.maxSize = ByteCount(format == "gif" ? 1200 : 150)
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).reverse(to: path)
    }
    #expect(error?.code == .cannotCreateOutput && error?.message.contains("the smallest possible result has") ?? false)
    #expect(try size(path) <= usual / 5, "what was there is still there")
  }

  @Test("a GIF has the requested number of colours")
  func gifColours() async throws {
    let folder = try TemporaryFolder()
    let source = try noise(folder, frames: 3)
    var sizes: [Int] = []
    for dither in [0.0, 1] {
      var options = ReverseOptions()
      (options.encoding.colors, options.encoding.dither) = (8, dither)
      try await Reverser(source, options: options).reverse(to: folder.path("\(dither).gif"))
      let read = try DecodedAnimation(folder.path("\(dither).gif"))
      let colors = Set(stride(from: 0, to: read.first.count, by: 4).map { Array(read.first[$0..<$0 + 3]) })
      #expect((2...8).contains(colors.count))
      sizes.append(try size(folder.path("\(dither).gif")))
    }
    #expect(sizes[0] != sizes[1])
  }

  @Test("movies are reduced to the size limit", arguments: ["mp4", "webm"])
  func movies(_ format: String) async throws {
    let folder = try TemporaryFolder()
    let source = try noise(folder, frames: 50, width: 320, audio: true)
    var options = ReverseOptions()
    options.encoding.maxSize = ByteCount(70_000)
    let path = folder.path("a.\(format)")
    let summary = try await Reverser(source, options: options).reverse(to: path)
    #expect(try size(path) <= 70_000)
    #expect(summary.frames == 50 && summary.samples == [96_000])
    let words = summary.warnings.map(\.message.description).joined()
    #expect(words.contains("of video instead of") && words.contains("of audio instead of"))
    options.encoding.maxSize = ByteCount(3_000)
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).reverse(to: folder.path("b.\(format)"))
    }
    #expect(error?.message.contains("does not fit in 3 kB") ?? false)
  }

  @Test("a movie below the size limit loses nothing")
  func smallMovie() async throws {
    let folder = try TemporaryFolder()
    let source = try TestMedia().write(to: folder)
    var options = ReverseOptions()
    options.encoding.framing.scale = .pad(width: 480, height: 640)
    options.encoding.maxSize = ByteCount(10_000_000)
    #expect(try await Reverser(source, options: options).reverse(to: folder.path("a.mp4")).warnings.isEmpty)
    let caps = try DecodedMedia(folder.path("a.mp4"), like: TestMedia()).videoCaps
    #expect((caps?.int("width"), caps?.int("height")) == (480, 640))
  }

  @Test("unsupported size limits, colour counts and other options are refused")
  func unsupportedOptions() async throws {
    let folder = try TemporaryFolder()
    let source = try noise(folder, frames: 2)
    func refusal(_ output: String, _ change: (inout EncodingOptions) -> Void) async -> String {
      var options = ReverseOptions()
      change(&options.encoding)
      do {
        try await Reverser(source, options: options).reverse(to: folder.path(output))
        return "made"
      } catch { return (error as? RetrogradeError)?.message.description ?? "\(error)" }
    }
    let limit = ByteCount(100_000)
    #expect(await refusal("a.apng") { $0.maxSize = limit }.contains("APNG, which is lossless"))
    #expect(await refusal("%d.png") { $0.maxSize = limit }.contains("many files"))
    #expect(
      await refusal("a.mp4") { ($0.maxSize, $0.bitrate) = (limit, 1_000_000) }.contains("`encoding.bitrate`, which"))
    #expect(await refusal("a.mkv") { ($0.maxSize, $0.quality) = (limit, .lossless) }.contains("`encoding.quality`"))
    #expect(await refusal("a.mkv") { ($0.maxSize, $0.videoCodec) = (limit, "ffv1") }.contains("has no bit rate"))
    #expect(await refusal("a.mp4") { $0.colors = 16 }.contains("only for GIF"))
    #expect(await refusal("a.gif") { $0.colors = 1 }.contains("2 to 256"))
    #expect(await refusal("a.gif") { $0.bitrate = 1_000_000 }.contains("`encoding.maxSize`"))
    #expect(await refusal("a.gif") { $0.preset = "fast" }.contains("`encoding.colors`"))
  }
}
