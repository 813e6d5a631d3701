import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Audio whose format changes mid-stream.
@Suite struct AudioChangeTests {
  /// Muxes two seconds of video with AC-3 audio that changes after one second.
  /// - Parameter second: caps of the audio after the change. Before the change, the audio is 48 kHz
  ///   stereo.
  private func file(
    _ name: String, then second: String, in muxer: String, _ folder: TemporaryFolder
  ) async throws -> String {
    var bytes = Data()
    for caps in ["audio/x-raw,rate=48000,channels=2", second] {
      let rate = caps.contains("44100") ? 44100 : 48000
      let part = folder.path("part.ac3")
      try run(
        pipeline:
          "audiotestsrc samplesperbuffer=1536 num-buffers=\(rate / 1536) ! \(caps) ! avenc_ac3 ! filesink location=\(part)"
      )
      bytes += try Data(contentsOf: URL(fileURLWithPath: part))
    }
    try bytes.write(to: URL(fileURLWithPath: folder.path("whole.ac3")))
    let frame = try TestMedia().write(to: folder)
    let path = folder.path(name)
    // Muxers refuse changing caps, so capssetter hides the change.
    try run(
      pipeline: """
        \(muxer) name=mux ! filesink location=\(path)
        filesrc location=\(frame) ! qtdemux ! h264parse ! queue ! mux.
        filesrc location=\(folder.path("whole.ac3")) ! ac3parse
          ! capssetter replace=true caps=audio/x-ac3,rate=48000,channels=2,framed=true,alignment=frame ! queue ! mux.
        """)
    return path
  }

  @Test(
    "audio that changes format is converted to the first format",
    arguments: ["matroskamux", "mp4mux"], ["rate=48000,channels=6,channel-mask=(bitmask)0x3f", "rate=44100,channels=2"])
  func changedFormat(_ muxer: String, _ second: String) async throws {
    let folder = try TemporaryFolder()
    let path = try await file("s", then: "audio/x-raw,\(second)", in: muxer, folder)
    let summary = try await Reverser(path).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 60)
    let warning = try #require(summary.warnings.first)
    #expect(summary.warnings.count == 1)
    #expect(warning.code == .converted)
    let isSlower = second.contains("44100")
    let (first, changed) = (48000 / 1536 * 1536, (isSlower ? 44100 : 48000) / 1536 * 1536)
    #expect(warning.count == changed)
    let converted = isSlower ? changed * 48000 / 44100 : changed
    // MP4 rounds the end of the audio to its timescale.
    #expect(abs((summary.samples.first ?? 0) - first - converted) <= (muxer == "mp4mux" ? 480 : 1))
    let start = try #require(warning.span).start
    #expect(abs((start - ClockTime(sampleIndex: first, rate: 48000)).nanoseconds) < 1_000_000)
    await #expect(throws: RetrogradeError.self) {
      var options = ReverseOptions()
      options.output.isStrict = true
      _ = try await Reverser(path, options: options).reverse(to: folder.path("strict.mkv"))
    }
    #expect(!folder.names.contains("strict.mkv"))
  }

  /// Writes a FLAC file whose format changes: a 44.1 kHz mono tone, then 48 kHz stereo noise in
  /// larger frames.
  private func flac(_ folder: TemporaryFolder) throws -> String {
    let parts = [("sine=frequency=300:sample_rate=44100:duration=2", "a.flac"), ("anoisesrc=r=48000:d=2", "b.flac")]
    var bytes = Data()
    for (source, name) in parts {
      let channels = name == "b.flac" ? ["-ac", "2"] : []
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", source, "-sample_fmt", "s16"] + channels + [folder.path(name)])
      let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
      bytes += bytes.isEmpty ? file[...] : flacFrames(file)
    }
    try bytes.write(to: URL(fileURLWithPath: folder.path("s.flac")))
    return folder.path("s.flac")
  }

  @Test("FLAC is read to its end, even if its sample rate and channels change")
  func changedFLAC() async throws {
    let folder = try TemporaryFolder()
    let path = try flac(folder)
    let summary = try await Reverser(path).reverse(to: folder.path("m.wav"))
    let warning = try #require(summary.warnings.first)
    #expect(summary.warnings.map(\.code) == [.converted] && warning.count == 96_000)
    #expect(warning.span?.start == ClockTime(seconds: 2))
    #expect(abs((summary.samples.first ?? 0) - 2 * 88_200) <= 1)
    let samples = try FFmpeg.samples(folder.path("m.wav"))
    #expect(samples[..<80_000].contains { abs($0) > 0.3 } && samples.suffix(80_000).allSatisfy { abs($0) < 0.2 })
  }

  @Test(
    "FLAC whose bit depth changes is read in full and converted to the first depth", arguments: [(16, 24), (24, 16)])
  func changedDepth(_ first: Int, _ second: Int) async throws {
    let folder = try TemporaryFolder()
    var parts: [[UInt8]] = []
    for depth in [first, second] {
      let path = folder.path("\(depth).flac")
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "sine=frequency=300:sample_rate=44100:duration=2", "-af", "volume=0.7", "-frame_size",
        "4096", "-sample_fmt", depth == 16 ? "s16" : "s32", "-bits_per_raw_sample", "\(depth)", path,
      ])
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      // Splits the file at the header of the eleventh frame. The first four bytes of all frame
      // headers are the same, and the frame number follows, here 10.
      let beginning = Array(flacFrames(bytes).prefix(4)) + [10]
      let place = try #require(bytes.firstRange(of: beginning)).lowerBound
      parts.append(parts.isEmpty ? Array(bytes[..<place]) : Array(bytes[place...]))
    }
    try Data(parts[0] + parts[1]).write(to: URL(fileURLWithPath: folder.path("s.flac")))
    let summary = try await Reverser(folder.path("s.flac")).reverse(to: folder.path("m.flac"))
    #expect(summary.warnings.map(\.code) == [.converted] && summary.warnings.first?.count == 88_200 - 40_960)
    let mirror = try FFmpeg.samples(folder.path("m.flac"))
    let source =
      try FFmpeg.samples(folder.path("\(first).flac")).prefix(40_960)
      + FFmpeg.samples(folder.path("\(second).flac")).dropFirst(40_960)
    #expect(mirror.count == 88_200 && mirror.suffix(40_960).elementsEqual(source.prefix(40_960).reversed()))
    #expect(zip(mirror, source.reversed()).allSatisfy { abs($0 - $1) <= 1 / 32_768 })
  }

  @Test("FLAC that changes format and has fewer samples than declared is reported as truncated")
  func truncatedFLAC() async throws {
    let folder = try TemporaryFolder()
    let path = try flac(folder)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // STREAMINFO declares 200,000 samples; the file has 184,200.
    bytes.replaceSubrange(22..<26, with: withUnsafeBytes(of: UInt32(200_000).bigEndian, Array.init))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let summary = try await Reverser(path).reverse(to: folder.path("m.wav"))
    #expect(summary.warnings.contains { $0.code == .truncated })
  }

  @Test("audio whose format stays the same gives no warning")
  func unchangedFormat() async throws {
    let folder = try TemporaryFolder()
    let path = try await file("s", then: "audio/x-raw,rate=48000,channels=2", in: "matroskamux", folder)
    let summary = try await Reverser(path).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.isEmpty)
  }
}
