import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import RetrogradeEngine

/// After a seek, a range of a long source can play before the whole source is indexed. The range
/// must play in the same way as after full indexing.
@Suite struct SoughtStretchTests {
  /// Returns a video of 300 numbered frames of 100 ms, with audio of the same length.
  private func media(_ muxer: String, _ audio: String) -> TestMedia {
    var media = TestMedia()
    media.times = TestMedia.regular(300, rate: 10)
    media.video = "x264enc key-int-max=20 bframes=2 speed-preset=ultrafast pass=qual quantizer=25 ! h264parse"
    (media.name, media.muxer, media.audio) = ("long", muxer, audio)
    (media.rate, media.sampleCount) = (16_000, 30 * 16_000)
    return media
  }

  private struct Played {
    var frames: [VideoPlayer.Frame] = []
    var samples: [UInt8] = []
    var audioSpans: [TimeSpan] = []
  }

  /// Plays the frames and the audio from `time` to `end`.
  private func played(_ source: PlayableSource, from time: ClockTime, to end: ClockTime) throws -> Played {
    var played = Played()
    let video = VideoPlayer(
      try #require(source.video), source.legs, from: time, to: end, timing: .mirror, Cancellation())
    while let frame = try video.next() { played.frames.append(frame) }
    var audio = AudioPlayer(try #require(source.audio.first), source.legs, from: time, to: end, isPadded: false)
    while let part = try audio.next() {
      played.audioSpans.append(part.shown)
      played.samples += try part.buffer.withBytes { Array($0) }
    }
    return played
  }

  @Test(
    "a range plays after a seek as it does with a full index",
    arguments: [("mp4mux", "avenc_aac bitrate=64000 aac-pns=false ! aacparse"), ("matroskamux", "flacenc")])
  func seek(_ muxer: String, _ audio: String) throws {
    let folder = try TemporaryFolder()
    let path = try media(muxer, audio).write(to: folder)
    let settings = PlaybackSettings(PlaybackOptions(), count: 1, resources: Resources(), cancellation: Cancellation())
    let opened = try OpenedSource(path, settings)
    let stretches = try #require(try SourceRanges(opened, settings))
    let whole = try PlayableSource(opened, settings) { _ in }
    #expect(stretches.tail.source.legs.presentation == whole.legs.presentation)
    for milliseconds: Int64 in [12_345, 29_900, 9_960] {
      let time = ClockTime(nanoseconds: milliseconds * 1_000_000)
      let stretch = try #require(try stretches.stretch(at: time))
      #expect(stretch.place.start <= time && time < stretch.place.end)
      // At most five GOPs of 2 s are indexed.
      #expect(stretch.range.duration <= ClockTime(seconds: 10))
      let end = min(stretch.place.end, time + ClockTime(seconds: 2))
      let (found, all) = (try played(stretch.source, from: time, to: end), try played(whole, from: time, to: end))
      #expect(!found.frames.isEmpty && !found.samples.isEmpty)
      #expect(found.frames.map(\.shown) == all.frames.map(\.shown))
      for (one, other) in zip(found.frames, all.frames) {
        #expect(try one.buffer.hasSamePixels(as: other.buffer, one.caps))
      }
      #expect(found.audioSpans == all.audioSpans)
      let isSame = found.samples == all.samples
      #expect(isSame, "at \(time)")
    }
    #expect(try stretches.stretch(at: whole.legs.presentation.duration) == nil)
  }
}
