import Foundation
import Quirks
import TestSupport
import Testing

/// Statuses and messages for files of formats that are not supported.
@Suite struct UnsupportedTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: scratch.path(name)))
    return scratch.path(name)
  }

  /// Returns a box of an ISO base media file.
  private func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
    let size = UInt32(body.count + 8)
    return withUnsafeBytes(of: size.bigEndian) { Array($0) } + Array(type.utf8) + body
  }

  private func image(_ brand: String) -> [UInt8] {
    box("ftyp", Array("\(brand)\0\0\0\0mif1".utf8)) + box("meta", [0, 0, 0, 0]) + box("mdat", [1, 2, 3, 4])
  }

  @Test("AVIF and HEIF are reported as unsupported, not as truncated", arguments: [("avif", "AVIF"), ("heic", "HEIF")])
  func boxedImage(brand: String, name: String) throws {
    let result = try Command.run(["reverse", try write("a.\(brand)", image(brand)), scratch.path("b.mp4")])
    #expect(result.status == 69, "\(result.errors)")
    #expect(result.errors.contains("this image format is not supported (\(name))"), "\(result.errors)")
  }

  @Test("a motion photo's film is reversed, and the photo is reported as left out")
  func motionPhoto() throws {
    try Command.makeClip(scratch.path("film.mp4"), frames: 30)
    let film = try Array(Data(contentsOf: URL(fileURLWithPath: scratch.path("film.mp4"))))
    let photo = try write("a.heic", image("heic") + box("mpvd", film))
    let result = try Command.run(["reverse", photo, scratch.path("b.mp4")])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("left out: the still image of a motion photo"), "\(result.errors)")
    let verified = try Command.run(["verify", scratch.path("film.mp4"), scratch.path("b.mp4")])
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
    let cut = try write("cut.heic", Array((image("heic") + box("mpvd", film)).dropLast(100)))
    #expect(try Command.run(["reverse", cut, scratch.path("c.mp4")]).status == 69)
  }

  @Test("audio of 65 channels is refused if GStreamer can't convert it")
  func manyChannels() throws {
    func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> (8 * $0) & 255) } }
    let samples = [UInt8](repeating: 0, count: 130 * 100)
    let form =
      little(1, 2) + little(65, 2) + little(44_100, 4) + little(44_100 * 130, 4) + little(130, 2) + little(16, 2)
    let body = Array("WAVEfmt ".utf8) + little(16, 4) + form + Array("data".utf8) + little(samples.count, 4) + samples
    let path = try write("a.wav", Array("RIFF".utf8) + little(body.count, 4) + body)
    let result = try Command.run(["reverse", path, scratch.path("b.wav")])
    let isRefused = Quirk.audioconvertChannels.applies
    #expect(result.status == (isRefused ? 69 : 0), "\(result.errors)")
    #expect(
      result.errors.contains("has 65 channels, but this release of GStreamer accepts at most 63") == isRefused)
  }

  /// IVF, Y4M, AIFF and AU headers that declare impossible numbers.
  @Test(
    "impossible numbers in a header are reported as damage",
    arguments: [
      ("a.ivf", "it declares 4294967295/1 frames per second"), ("b.ivf", "it declares 1/4294967295 frames per second"),
      ("a.y4m", "it declares -1:1 frames per second"), ("a.aiff", "its sample rate is not a valid number"),
      ("a.au", "its header places the audio after the end of the file"),
    ])
  func impossibleNumbers(name: String, words: String) throws {
    let most: [UInt8] = [255, 255, 255, 255]
    let bytes: [UInt8] =
      switch name {
      case "a.ivf": Array("DKIF\0\0 \0VP80`\0@\0".utf8) + most + [1, 0, 0, 0] + [UInt8](repeating: 0, count: 60)
      case "b.ivf": Array("DKIF\0\0 \0VP80`\0@\0".utf8) + [1, 0, 0, 0] + most + [UInt8](repeating: 0, count: 60)
      case "a.y4m": Array("YUV4MPEG2 W8 H8 F-1:1\nFRAME\n".utf8) + [UInt8](repeating: 0, count: 96)
      case "a.aiff":
        Array("FORM\0\0\0.AIFFCOMM\0\0\0\u{12}\0\u{1}\0\0\0\u{4}\0\u{10}".utf8) + [
          0x7F, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0,
        ]
          + Array("SSND\0\0\0\u{10}".utf8) + [UInt8](repeating: 0, count: 16)
      default:
        Array(".snd".utf8) + most + [0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 31, 64, 0, 0, 0, 1]
          + [UInt8](repeating: 0, count: 256)
      }
    let result = try Command.run(["info", try write(name, bytes)])
    #expect(result.status == 65 && result.errors.contains("too damaged to read: \(words)"), "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL"))
  }

  @Test("if the limit on open files is too low, the message names the limit")
  func openFiles() throws {
    let result = try Command.run(
      ["-c", "ulimit -n 16; exec \"$0\" devices", Command.url.path], of: URL(fileURLWithPath: "/bin/sh"))
    #expect(result.status == 74 && result.errors.contains("the limit on open files (ulimit -n) is too low: 16"))
  }

  @Test("MPEG-4 ALS is reported as unsupported, not as damaged")
  func losslessAudio() throws {
    let path = scratch.path("a.m4a")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac", "-y", path])
    var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    // Replaces AAC in the decoder configuration (ISO/IEC 14496-1, 7.2.6.7) with object type 36,
    // which is MPEG-4 ALS.
    let head: [UInt8] = [0x05, 0x80, 0x80, 0x80]
    let place = try #require(bytes.firstRange(of: head)).upperBound + 1
    bytes.replaceSubrange(place..<place + 2, with: [0xF8, 0x88])
    let result = try Command.run(["reverse", try write("als.m4a", bytes), scratch.path("b.wav")])
    #expect(result.status == 69, "\(result.errors)")
    #expect(result.errors.contains("MPEG-4 ALS"), "\(result.errors)")
  }

  @Test(
    "audio that GStreamer can't read from AIFF-C, AU or Wave64 is reported as unsupported",
    arguments: [
      ("a.aiff", "adpcm_ima_qt", "AIFF-C with compression ima4"),
      ("a.aiff", "pcm_alaw", "AIFF-C with compression alaw"),
      ("a.au", "g726le", "AU with encoding 23"), ("a.w64", "g722", "Wave64 with format tag 655"),
      ("6.au", "pcm_s16be", "AU with 6 channels"),
    ])
  func uncommonAudio(name: String, codec: String, words: String) throws {
    let path = scratch.path(name)
    let encode = ["-c:a", codec, "-ac", name == "6.au" ? "6" : "1"] + (name == "a.au" ? ["-b:a", "32k"] : [])
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=duration=1:sample_rate=8000", "-y"] + encode + [path])
    let result = try Command.run(["reverse", path, scratch.path("b.wav")])
    #expect(result.status == 69, "\(result.errors)")
    #expect(result.errors.contains("this audio format is not supported (\(words))"), "\(result.errors)")
  }

  @Test("the message does not suggest leaving out the only stream of a file")
  func soleStream() throws {
    let path = scratch.path("a.caf")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=duration=1", "-y", path])
    let result = try Command.run(["reverse", path, scratch.path("b.mkv")])
    #expect(result.status == 69, "\(result.errors)")
    #expect(!result.errors.contains("leave out the audio"), "\(result.errors)")
  }

  @Test(
    "if GStreamer does not know a codec, the message names the codec only once",
    .enabled(if: Quirk.qtdemuxDNxHR.applies, "later releases decode DNxHR"))
  func unknownCodec() throws {
    let path = scratch.path("a.mov")
    let codec = ["-c:v", "dnxhd", "-profile:v", "dnxhr_lb", "-pix_fmt", "yuv422p"]
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc=size=320x240:duration=0.2", "-y"] + codec + [path])
    let result = try Command.run(["reverse", path, scratch.path("b.mp4")])
    #expect(result.status == 69, "\(result.errors)")
    #expect(result.errors.split(separator: "AVdh").count == 2, "\(result.errors)")
  }
}
