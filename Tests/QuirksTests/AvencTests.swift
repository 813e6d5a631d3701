import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of audio encoders") struct AvencTests {
  @Test("avenc_aac has rank NONE")
  func unranked() throws {
    try expect(.avencAACUnranked) {
      let caps = try #require(Caps("audio/mpeg,mpegversion=4"))
      // Other tests in this process raise the rank of avenc_aac; `choosing` waits until these tests
      // have restored the rank.
      return Registry.choosing([], avoiding: []) {
        !Registry.factories(.encoder, sources: caps).contains("avenc_aac")
      }
    }
  }

  @Test("decoded AAC still contains the priming")
  func aacPriming() throws {
    try expect(.avencAACPriming) { try addedSamples("avenc_aac ! avdec_aac") >= 1024 }
  }

  @Test("avenc_aac leaks audio from the left channel into the right one")
  func aacMidSide() throws {
    try expect(.avencAACMidSide) { try rightPeak("") > 500 }
    if Quirk.avencAACMidSide.applies { #expect(try rightPeak("aac-ms=false") < 100) }
  }

  /// Returns the peak of the right channel after encoding and decoding; full scale is 32,768. The
  /// input has a tone in the left channel and silence in the right one.
  private func rightPeak(_ settings: String) throws -> Int {
    let decoded = try bytes(
      of: """
        audiotestsrc num-buffers=50 freq=300 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=1 ! audioconvert !
        audiopanorama panorama=-1 ! audio/x-raw,channels=2 ! audioconvert ! avenc_aac bitrate=128000 \(settings) !
        avdec_aac ! audioconvert ! audio/x-raw,format=S16LE
        """)
    return decoded.withUnsafeBytes { bytes in
      bytes.bindMemory(to: Int16.self).enumerated().reduce(0) {
        $1.offset % 2 == 1 ? max($0, abs(Int($1.element))) : $0
      }
    }
  }

  @Test("decoded MP3 still contains the priming")
  func mp3Priming() throws {
    try expect(.lamemp3encPriming) { try addedSamples("lamemp3enc ! mpegaudioparse ! avdec_mp3") >= 1105 }
  }

  /// Returns the number of decoded samples minus the number of encoded ones.
  private func addedSamples(_ codec: String) throws -> Int {
    try bytes(
      of: """
        audiotestsrc num-buffers=10 samplesperbuffer=1920 ! audio/x-raw,rate=48000,channels=1 ! audioconvert ! \(codec) !
        audioconvert ! audio/x-raw,format=S16LE
        """
    ).count / 2 - 19_200
  }

  @Test(
    "experimental encoders have a rank, but fail",
    arguments: ["avenc_dca", "avenc_mlp", "avenc_truehd"])
  func experimental(_ encoder: String) throws {
    try expect(.avencExperimental) {
      fails("audiotestsrc num-buffers=4 ! audioconvert ! audioresample ! \(encoder)")
    }
  }

  @Test("buffers of unaligned size crash avenc_wmav2")
  func wmaAlignment() throws {
    try expect(.avencWMAAlignment) {
      let pipeline =
        "audiotestsrc num-buffers=30 samplesperbuffer=4101 ! audio/x-raw,rate=44100,channels=1 ! avenc_wmav2 ! fakesink"
      return try launch(["-f"] + pipeline.split(separator: " ").map(String.init)).isCrash
    }
  }

  @Test("flacenc fails on two pictures of unknown type")
  func pictures() throws {
    let folder = try TemporaryFolder()
    let pictures = try ["red", "blue"].map {
      try ffmpeg(folder, "\($0).png", "-f lavfi -i color=\($0):s=64x64 -frames:v 1")
    }
    let path = try ffmpeg(
      folder, "a.flac", tone, "-i \(pictures[0]) -i \(pictures[1])",
      "-map 0 -map 1 -map 2 -c:v copy -disposition:v attached_pic")
    try expect(.flacencPictures) {
      do {
        try Pipeline("filesrc location=\(path) ! flacparse ! flacdec ! flacenc ! fakesink").runToEnd()
        return false
      } catch is GStreamerError {
        return true
      }
    }
  }

  @Test("FLAC audio of only one block becomes a file without audio")
  func flacSingleBlock() throws {
    try expect(.flacencSingleBlock) {
      let folder = try TemporaryFolder()
      let path = folder.path("a.flac")
      try run(
        pipeline: """
          audiotestsrc num-buffers=1 samplesperbuffer=1000 ! audio/x-raw,rate=44100,channels=1 !
          encodebin profile=audio/x-flac ! filesink location=\(path)
          """)
      // The header alone has 115 bytes.
      return try Data(contentsOf: URL(fileURLWithPath: path)).count < 200
    }
  }

  @Test("Opus shorter than 20 ms loses its end")
  func shortOpus() throws {
    try expect(.opusencShortAudio) {
      let folder = try TemporaryFolder()
      let path = folder.path("a.opus")
      try Pipeline(
        """
        audiotestsrc num-buffers=1 samplesperbuffer=480 ! audio/x-raw,rate=48000,channels=1 ! opusenc ! oggmux !
        filesink location=\(path)
        """
      ).runToEnd()
      return try FFmpeg.bytes(["-i", path, "-f", "s16le", "-"]).count < 960
    }
  }

  @Test("asfdemux reports the album artist as an artist")
  func albumArtist() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.wma", tone, "-metadata artist=Anna -metadata album_artist=Band -c:a wmav2")
    try expect(.asfdemuxAlbumArtist) {
      try atFirstBuffer(of: "filesrc location=\(path) ! asfdemux") { pad, _, _ in
        [true, false].contains { pad.tags(global: $0)?.strings("artist").contains("Band") ?? false }
      }
    }
  }

  @Test("flacparse drops the last block of short, silent audio")
  func flacLastBlock() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.flac")
    // The audio needs two FLAC blocks; the second is shorter.
    func written(_ prepare: (Pipeline) -> Void) throws -> Int {
      let pipeline = try Pipeline(
        """
        audiotestsrc wave=silence num-buffers=1 samplesperbuffer=6000 ! audio/x-raw,format=S16LE,rate=48000,channels=1 !
        encodebin profile=audio/x-flac ! filesink location=\(path)
        """)
      prepare(pipeline)
      try pipeline.runToEnd()
      return try bytes(of: "filesrc location=\(path) ! flacparse ! flacdec").count / 2
    }
    try expect(.flacparseLastBlock) { try written { _ in } < 6000 }
    #expect(try written { $0.keepLastFLACBlocks() } == 6000)
  }

  @Test("opusdec decodes stereo as if for mono output")
  func phaseInversion() throws {
    try expect(.opusdecPhaseInversion) {
      // The channels are out of phase. The bit rate is so low that the encoder derives one channel
      // from the other.
      func decoded(_ setting: String) throws -> [UInt8] {
        try bytes(
          of: """
            audiotestsrc wave=white-noise num-buffers=20 ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! tee name=t
            t. ! queue ! join. t. ! queue ! audioinvert degree=1 ! join.
            interleave name=join ! audioconvert ! audio/x-raw,channels=2 ! opusenc bitrate=24000 ! opusdec \(setting)
            """)
      }
      return try decoded("") != decoded("phase-inversion=true")
    }
  }

  @Test("5.1 with side speakers becomes mono in Vorbis")
  func sideSpeakers() throws {
    try expect(.audioconvertSideSpeakers) {
      let caps = try caps(
        of: """
          audiotestsrc num-buffers=10 ! audio/x-raw,rate=48000,channels=6,channel-mask=(bitmask)0x60f !
          audioconvert dithering=none ! vorbisenc
          """)
      return caps.int("channels") == 1
    }
  }

  @Test("5.1 with side speakers loses its layout in Opus, or becomes mono")
  func opusSideSpeakers() throws {
    try expect(.audioconvertSideSpeakers) {
      let caps = try caps(
        of: """
          audiotestsrc num-buffers=10 ! audio/x-raw,rate=48000,channels=6,channel-mask=(bitmask)0x60f !
          audioconvert dithering=none ! opusenc
          """)
      return caps.int("channels") == 1 || caps.int("channel-mapping-family") == 255
    }
  }
}
