import GStreamer
import MediaTime

/// Audio at another speed and the same pitch, made by GStreamer's `pitch` element (SoundTouch).
/// Beyond the end of the leg's part of the source, the audio is silent.
///
/// The total length is exact to the sample. Sections of the audio may be a few hundredths of a
/// second early or late, because SoundTouch moves the sections so that they join smoothly.
final class PitchedSamples: PacedSamples {
  private let track: AudioTrack
  private let direction: Direction
  /// Source sample frames not yet read.
  private var left: Range<Int>
  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink
  private var ready: [UInt8] = []
  private var hasEnded = false

  /// Number of sample frames in an input buffer.
  private static let block = 4096
  /// Range of speeds that `pitch` supports.
  private static let limits = 0.1...10.0

  init(_ track: AudioTrack, _ leg: PlaybackLeg, at place: ClockTime) throws {
    (self.track, direction) = (track, leg.playedLeg.direction)
    guard leg.speed.isConstant, PitchedSamples.limits.contains(leg.speed.first) else {
      throw RetrogradeError(
        .usage,
        "\(setting: .keepsPitch): audio can keep its pitch only at a constant speed from "
          + "\(PitchedSamples.limits.lowerBound.plain) to \(PitchedSamples.limits.upperBound.plain)",
        remedy: "leave out \(setting: .keepsPitch), or mute the parts with other speeds")
    }
    let first = place.sampleIndex(rate: track.rate)
    let count = leg.span.duration.sampleIndex(rate: track.rate)
    left = direction == .forward ? first..<first + count : first - count..<first
    do {
      pipeline = try Pipeline(
        "appsrc name=in format=time block=true max-buffers=2 caps=\(Description.quoted(track.caps.description)) ! "
          + "audioconvert dithering=none ! pitch tempo=\(leg.speed.first) ! audioconvert dithering=none ! "
          + "\(track.caps) ! appsink name=out sync=false enable-last-sample=false")
      source = try pipeline.appSource("in")
      sink = try pipeline.appSink("out")
    } catch let error as GStreamerError {
      throw RetrogradeError(
        .missingPlugin, "\(setting: .keepsPitch): the GStreamer element pitch can't be created: \(error.message)",
        remedy: "install gstreamer1.0-plugins-bad", underlying: error)
    }
    pipeline.set(.playing)
  }

  deinit { pipeline.set(.null) }

  func take(_ count: Int) throws -> [UInt8] {
    let bytes = count * track.bytesPerFrame
    while ready.count < bytes, try readMore() {}
    let taken = Array(ready.prefix(bytes))
    ready.removeFirst(taken.count)
    return taken + track.silence(count - taken.count / track.bytesPerFrame)
  }

  /// Appends output of `pitch` to `ready`.
  /// - Returns: false at the end of the audio.
  private func readMore() throws -> Bool {
    if let sample = sink.pull(timeout: hasEnded ? ClockTime(nanoseconds: 100_000_000) : .zero) {
      try sample.buffer.withBytes { ready += $0 }
    } else if !hasEnded {
      try give()
    } else if case .failed(let error)? = pipeline.nextMessage() {
      throw error
    } else {
      return !sink.isEndOfStream
    }
    return true
  }

  private func give() throws {
    let size = min(PitchedSamples.block, left.count)
    guard size > 0 else {
      hasEnded = true
      return source.endOfStream()
    }
    let part = direction == .forward ? left.prefix(size) : left.suffix(size)
    left = direction == .forward ? part.upperBound..<left.upperBound : left.lowerBound..<part.lowerBound
    let samples = try track.samples(part, direction)
    let buffer = try Buffer(size: samples.count) { $0.copyBytes(from: samples) }
    guard source.push(buffer) else {
      throw GStreamerError(kind: .other, element: "pitch", message: "it accepts no more samples", debug: nil)
    }
  }
}
