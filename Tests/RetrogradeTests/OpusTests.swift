import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde

@Suite struct OpusTests {
  /// Writes noise whose right channel is the inverted left one, at a bit rate so low that the
  /// encoder derives one channel from the other.
  private func opposites(_ folder: TemporaryFolder) throws -> String {
    let path = folder.path("s.opus")
    let pipeline = try Pipeline(
      "audiotestsrc num-buffers=50 samplesperbuffer=960 wave=white-noise ! audio/x-raw,rate=48000,channels=1 ! "
        + "audioconvert mix-matrix=\"<<(float)1>,<(float)-1>>\" ! audio/x-raw,channels=2,channel-mask=(bitmask)3 ! "
        + "opusenc bitrate=24000 ! oggmux ! filesink location=\(path)")
    pipeline.set(.playing)
    while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 10)) {
      if case .endOfStream = message { break }
    }
    pipeline.set(.null)
    return path
  }

  /// Returns the output of `opusdec`, reversed.
  private func mirrored(_ path: String, _ settings: String) throws -> [UInt8] {
    let bytes = try DecodedMedia.buffers(
      of: "filesrc location=\(path) ! oggdemux ! opusparse ! opusdec \(settings) ! audio/x-raw,format=S16LE"
    ).flatMap { $0 }
    return stride(from: bytes.count - 4, through: 0, by: -4).flatMap { bytes[$0..<$0 + 4] }
  }

  private func samples(_ path: String) throws -> [UInt8] {
    try DecodedMedia.buffers(of: "filesrc location=\(path) ! wavparse ! audio/x-raw,format=S16LE").flatMap { $0 }
  }

  @Test("inverted channels stay inverted")
  func phaseInversion() async throws {
    let folder = try TemporaryFolder()
    let source = try opposites(folder)
    try await Reverser(source).reverse(to: folder.path("m.wav"))
    let expected = try mirrored(source, "phase-inversion=true")
    #expect(try samples(folder.path("m.wav")) == expected)
    #expect(try mirrored(source, "phase-inversion=false") != expected)
  }

  /// The header contains the sample rate of the encoder's input, only for information (RFC 7845,
  /// 5.1). Opus is always decoded at 48 kHz.
  @Test("any input sample rate in the header is accepted")
  func inputSampleRate() async throws {
    let folder = try TemporaryFolder()
    let source = try opposites(folder)
    let expected = try mirrored(source, "phase-inversion=true")
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
    // The first page contains the header: 28 bytes of page header, then "OpusHead", version,
    // channels, pre-skip and rate.
    bytes.replaceSubrange(28 + 12..<28 + 16, with: withUnsafeBytes(of: UInt32(44_100).littleEndian, Array.init))
    bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0])
    let sum = withUnsafeBytes(of: checksum(bytes[..<47]).littleEndian, Array.init)
    bytes.replaceSubrange(22..<26, with: sum)
    try Data(bytes).write(to: URL(fileURLWithPath: source))
    try await Reverser(source).reverse(to: folder.path("m.wav"))
    #expect(try samples(folder.path("m.wav")) == expected)
  }

  @Test("FFmpeg reads the right start time of late Opus audio in Matroska", arguments: ["m.mkv", "m.webm"])
  func lateStart(_ name: String) async throws {
    let folder = try TemporaryFolder()
    // The audio of the output starts at 40 ms.
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-f", "lavfi", "-i",
      "sine=duration=0.96:sample_rate=48000",
      "-c:v", "libvpx", "-c:a", "flac", folder.path("s.mkv"),
    ])
    var options = ReverseOptions()
    options.encoding.audioCodec = "opus"
    try await Reverser(folder.path("s.mkv"), options: options).reverse(to: folder.path(name))
    let times = try FFmpeg.lines([
      "-i", folder.path(name), "-map", "0:a", "-c", "copy", "-copyts", "-f", "framecrc", "-",
    ])
    .compactMap { Int($0.split(separator: ",")[2].trimmingCharacters(in: .whitespaces)) }
    // FFmpeg subtracts the priming of 6.5 ms, and rounds the result.
    #expect(times.first == 33 && times.dropFirst().first == 53)
  }

  /// Computes the checksum of an Ogg page (RFC 3533, 6).
  private func checksum(_ page: ArraySlice<UInt8>) -> UInt32 {
    page.reduce(UInt32(0)) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
  }
}
