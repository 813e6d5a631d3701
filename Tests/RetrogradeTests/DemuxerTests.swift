import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Packets that GStreamer's demuxers keep to themselves, or put elsewhere, if nobody sees to it.
@Suite struct DemuxerTests {
  private func lossless() -> ReverseOptions {
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    return options
  }

  /// A header in an MP4 file, to be changed.
  private struct Header {
    private let path: String
    private(set) var bytes: [UInt8]

    init(_ path: String) throws {
      self.path = path
      bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The bodies of all boxes of a type, wherever they are; their names stand in no other place of a header.
    func box(_ type: String) throws -> Int {
      try #require(Data(bytes).range(of: Data(type.utf8), options: .backwards)?.upperBound)
    }

    mutating func set(_ value: Int, at offset: Int) { bytes.set(value, at: offset) }
    func integer(_ offset: Int) -> Int { bytes.integer(offset) }

    mutating func rename(_ type: String, to other: String) throws {
      let place = try box(type)
      bytes.replaceSubrange(place - 4..<place, with: Array(other.utf8))
    }

    func write() throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
  }

  /// As Android's MediaMuxer writes it: the duration counts all samples but the last.
  @Test func theLastPictureIsShownThatTheHeaderGivesNoTime() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video = "x264enc key-int-max=20 bframes=0 pass=qual quantizer=18 ! h264parse"
    let source = try media.write(to: folder)
    var header = try Header(source)
    try header.rename("edts", to: "free")
    let step = try header.integer(header.box("stts") + 12)
    let duration = try header.box("mdhd") + 16
    header.set(header.integer(duration) - step, at: duration)
    let whole = try header.box("mvhd")
    header.set(header.integer(whole + 12) * (media.frameCount - 1) / 30, at: whole + 16)
    try header.write()
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == (0..<media.frameCount).reversed())
  }

  /// With offsets below 0, as phones and QuickTime write them, what is shown before the end may be decoded after it.
  @Test func anEditEndsWithWhatIsShownInItAndNotWithWhatIsDecoded() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video =
      "x264enc key-int-max=20 bframes=2 b-adapt=false b-pyramid=false option-string=scenecut=0 pass=qual quantizer=18 ! "
      + "h264parse"
    let source = try media.write(to: folder)
    var header = try Header(source)
    let offsets = try header.box("ctts")
    let step = try header.integer(header.box("stts") + 12)
    header.set(1 << 24, at: offsets)
    for entry in 0..<header.integer(offsets + 4) {
      let place = offsets + 12 + 8 * entry
      header.set(header.integer(place) - step, at: place)
    }
    let shown = 57
    let edits = try header.box("elst")
    let timescale = try header.integer(header.box("mvhd") + 12)
    header.set(timescale * shown / 30, at: edits + 8)
    header.set(0, at: edits + 12)
    try header.write()
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == (0..<shown).reversed())
  }

  /// The first packet is the picture's, decoded before any sound is heard and shown after it.
  @Test func soundBeforeTheFirstPictureIsHeardInFLV() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(60, rate: 30).map { $0 + ClockTime(nanoseconds: 100_000_000) }
    media.video = "x264enc key-int-max=20 bframes=2 b-adapt=false pass=qual quantizer=18 ! h264parse"
    media.frameRate = "30/1"
    media.rate = 44_100
    media.soundStart = ClockTime(nanoseconds: 50_000_000)
    media.sampleCount = 66_150
    media.audio = "identity"
    media.muxer = "flvmux"
    media.name = "s.flv"
    let source = try media.write(to: folder)
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
    #expect(mirror.sound.count == media.sampleCount * media.channels * 8)
  }
}
