import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// One reversal to test: its source, options and output.
struct ReverseCase: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var media: TestMedia
  var output = "mirror.mkv"
  var options = ReverseOptions()

  init(_ name: String, output: String = "mirror.mkv", _ change: (inout TestMedia, inout ReverseOptions) -> Void) {
    testDescription = name
    self.output = output
    media = TestMedia()
    options.encoding.quality = .lossless
    options.resources.memory = ByteCount(1 << 20)
    change(&media, &options)
  }

  static let x264 = "x264enc key-int-max=15 bframes=3 pass=qual quantizer=18 ! h264parse"

  static let all: [ReverseCase] = [
    ReverseCase("H.264 with B-frames in MP4") { media, _ in
      media.sampleCount = 96_000; media.audio = "avenc_alac"
    },
    ReverseCase("H.264 with B-frames in MKV") { media, _ in
      media.video = x264; media.muxer = "matroskamux"; media.name = "s.mkv"; media.sampleCount = 96_000
    },
    ReverseCase("H.264 with B-frames in TS") { media, _ in
      media.video = x264; media.muxer = "mpegtsmux"; media.name = "s.ts"
    },
    ReverseCase("open groups of pictures, H.264") { media, _ in
      media.video =
        "x264enc key-int-max=15 bframes=3 option-string=open-gop=1:scenecut=0 pass=qual quantizer=18 ! h264parse"
    },
    ReverseCase("open groups of pictures, HEVC") { media, _ in
      media.video = "x265enc key-int-max=15 option-string=open-gop=1:bframes=3 ! h265parse"
      media.width = 192; media.height = 128; media.frameRate = "30/1"
    },
    ReverseCase("VP9 in WebM") { media, _ in
      media.video = "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=20"; media.muxer = "webmmux"; media.name = "s.webm"
    },
    ReverseCase("VP8 in WebM") { media, _ in
      media.video = "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=20"; media.muxer = "webmmux"; media.name = "s.webm"
    },
    ReverseCase("MJPEG and PCM in AVI") { media, _ in
      media.frameRate = "30/1"; media.video = "jpegenc quality=95"; media.muxer = "avimux"; media.name = "s.avi"
      media.sampleCount = 96_000; media.audio = "identity"
    },
    ReverseCase("H.264 with B-frames in AVI, which stores decoding times only") { media, _ in
      media.frameRate = "30/1"; media.muxer = "avimux"; media.name = "s.avi"
    },
    ReverseCase("MPEG-4 with B-frames in AVI, where decoder timestamps go back at keyframes") { media, _ in
      media.frameRate = "30/1"; media.muxer = "avimux"; media.name = "s.avi"
      media.video = "videoconvert ! avenc_mpeg4 max-bframes=2 gop-size=12 bitrate=8000000 ! mpeg4videoparse"
    },
    ReverseCase("raw video") { media, _ in
      media.video = "video/x-raw,format=I420"; media.muxer = "matroskamux"; media.name = "s.mkv"
    },
    ReverseCase("MPEG-2 in MPEG-PS, where seeking is not exact") { media, _ in
      media.times = TestMedia.regular(60, rate: 25)
      media.width = 352; media.height = 288; media.frameRate = "25/1"
      media.video = "mpeg2enc ! mpegvideoparse"
      media.muxer = "mpegpsmux"; media.name = "s.mpg"
    },
    ReverseCase("a variable frame rate") { media, _ in
      var time = 0
      media.times = (0...50).map { index in
        defer { time += index % 7 == 0 ? 200 : index % 3 == 0 ? 17 : 40 }
        return ClockTime(nanoseconds: Int64(time) * 1_000_000)
      }
    },
    ReverseCase("audio alone, mono, 16 bit", output: "m.wav") { media, _ in audioOnly(&media, 1, "S16LE") },
    ReverseCase("audio alone, stereo, 24 bit", output: "m.wav") { media, _ in audioOnly(&media, 2, "S24LE") },
    ReverseCase("audio alone, stereo, float", output: "m.wav") { media, _ in audioOnly(&media, 2, "F32LE") },
    ReverseCase("audio alone, 5.1, 24 bit", output: "m.mka") { media, _ in audioOnly(&media, 6, "S24LE") },
    ReverseCase("audio alone, FLAC to FLAC", output: "m.flac") { media, _ in
      audioOnly(&media, 2, "S16LE"); media.audio = "flacenc"; media.muxer = "identity"; media.name = "s.flac"
    },
    ReverseCase("audio shorter than a block of FLAC", output: "m.flac") { media, _ in
      audioOnly(&media, 1, "S16LE"); media.sampleCount = 17
    },
    ReverseCase("audio as long as a block of FLAC", output: "m.flac") { media, _ in
      audioOnly(&media, 1, "S16LE"); media.sampleCount = 4608
    },
    ReverseCase("audio that starts late") { media, _ in
      matroska(&media); media.audioStart = ClockTime(nanoseconds: 500_000_000); media.sampleCount = 72_000
    },
    ReverseCase("audio that ends early") { media, _ in
      matroska(&media); media.sampleCount = 48_000
    },
    ReverseCase("audio that goes on after the video") { media, _ in
      matroska(&media); media.sampleCount = 150_000
    },
    ReverseCase("10 bit") { media, _ in
      media.video = "video/x-raw,format=I420_10LE ! x264enc pass=qual quantizer=18 key-int-max=15 ! h264parse"
    },
    ReverseCase("one frame") { media, _ in media.times = TestMedia.regular(1, rate: 30) },
    ReverseCase("one keyframe") { media, _ in
      matroska(&media)
      media.times = TestMedia.regular(200, rate: 30);
      media.video = "x264enc key-int-max=1000 option-string=scenecut=0 pass=qual quantizer=18 ! h264parse"
    },
    ReverseCase("one keyframe, budget for four frames") { media, options in
      media.video = "x264enc key-int-max=1000 option-string=scenecut=0 pass=qual quantizer=18 ! h264parse"
      options.resources.memory = ByteCount(96 * 64 * 6 * 2)
    },
    ReverseCase("odd sizes") { media, _ in
      media.width = 67; media.height = 51; media.video = "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=20"
      media.muxer = "webmmux"; media.name = "s.webm"
    },
    ReverseCase("lossless in MOV", output: "m.mov") { media, _ in
      matroska(&media); media.sampleCount = 96_000
    },
  ]

  private static func matroska(_ media: inout TestMedia) {
    media.muxer = "matroskamux"
    media.name = "s.mkv"
  }

  private static func audioOnly(_ media: inout TestMedia, _ channels: Int, _ format: String) {
    media.video = nil
    media.channels = channels
    media.audioFormat = format
    media.sampleCount = 30_001
    media.audio = "identity"
    media.muxer = "wavenc"
    media.name = "s.wav"
  }
}

@Suite struct ReverseTests {
  @Test("all frames and samples come out in reverse order", arguments: ReverseCase.all)
  func framesAndSamples(_ reversal: ReverseCase) async throws {
    let folder = try TemporaryFolder()
    let media = reversal.media
    let source = try media.write(to: folder)
    let output = folder.path(reversal.output)
    let summary = try await Reverser(source, options: reversal.options).reverse(to: output)
    #expect(summary.peakMemory <= reversal.options.resources.memory.bytes)
    let original = try DecodedMedia(source, like: media)
    let mirror = try DecodedMedia(output, like: media)

    if media.video != nil {
      #expect(mirror.numbers == (0..<media.frameCount).reversed())
      // In plain playback, mpegpsdemux reports a start of the stream that is too late, so the times
      // of MPEG-PS are not compared.
      if media.muxer != "mpegpsmux" {
        #expect(original.numbers == Array(0..<media.frameCount), "the generated source is what it should be")
        expectMirroredTimes(original, mirror, media)
      }
    }
    if media.sampleCount > 0 {
      let size = try #require(original.audioCaps?.bytesPerSampleFrame)
      #expect(original.audioCaps?.int("rate") == mirror.audioCaps?.int("rate"))
      #expect(original.audioCaps?.int("channels") == mirror.audioCaps?.int("channels"))
      var expected = original.audio
      expected.withUnsafeMutableBytes { bytes in
        for (index, frame) in stride(from: 0, to: original.audio.count, by: size).reversed().enumerated() {
          for byte in 0..<size { bytes[index * size + byte] = original.audio[frame + byte] }
        }
      }
      let isMirrored = mirror.audio == expected
      #expect(isMirrored, "\(mirror.audio.count) bytes of audio, and not the \(expected.count) mirrored ones")
    }
    if media.video != nil, media.sampleCount > 0, let before = original.audioStart, let after = mirror.audioStart {
      // Audio stays in sync with the frames.
      let length = ClockTime(sampleIndex: media.sampleCount, rate: media.rate)
      let end = presentationEnd(original, media)
      let expected = end - (before + length)
      #expect(abs((after - expected).seconds) < 0.001, "audio starts at \(after), and not at \(expected)")
    }
    #expect(folder.names.count == 2, "nothing else is left behind")
  }

  private func presentationEnd(_ original: DecodedMedia, _ media: TestMedia) -> ClockTime {
    let last = media.times[media.frameCount] - media.times[media.frameCount - 1]
    let frame = (times(original, media).last ?? .zero) + last
    let audio = original.audioStart.map { $0 + ClockTime(sampleIndex: media.sampleCount, rate: media.rate) }
    return max(frame, audio ?? .zero)
  }

  /// Returns the presentation times of the source's frames. AVI has no timestamps, so its frames
  /// follow each other at the frame rate.
  private func times(_ original: DecodedMedia, _ media: TestMedia) -> [ClockTime] {
    media.muxer == "avimux" ? media.times.dropLast() : original.times
  }

  private func expectMirroredTimes(_ original: DecodedMedia, _ mirror: DecodedMedia, _ media: TestMedia) {
    guard mirror.times.count == original.times.count, !original.times.isEmpty else { return }
    let end = presentationEnd(original, media)
    // A source frame ends when the next one starts. The mirrored end is the start of the frame in
    // the reversed video.
    let expected = times(original, media).dropFirst().reversed().map { end - $0 }
    let errors = zip(mirror.times.dropFirst(), expected).map { ($0 - $1).seconds }
    // Without audio, the start of the mirror depends on the duration of the source's last frame,
    // which not every container stores. So all frames may be shifted by the same time.
    let isVideoOnly = media.sampleCount == 0
    let shift = isVideoOnly ? errors.first ?? 0 : 0
    #expect(
      abs(shift) < 0.21 && errors.allSatisfy { abs($0 - shift) < 0.0015 },
      "frames are off by \(errors.min() ?? 0) to \(errors.max() ?? 0) s")
    #expect(mirror.times.first.map { $0.seconds < 0.0015 } ?? false, "there is a frame from the start")
  }
}
