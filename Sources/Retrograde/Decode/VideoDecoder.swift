import GStreamer
import Synchronization

/// The pipeline that decodes pictures: whole files forwards, or window by window.
final class VideoDecoder: Sendable {
  /// In `gst-launch-1.0` syntax; the sample are taken from its appsink.
  let description: String
  /// The caps of the frames: raw video in system memory.
  let caps: Caps
  /// What one frame takes in memory, padding included.
  let frameBytes: Int

  private let pipeline: Pipeline
  private let sink: AppSink
  private let source: String
  /// The first sample, pulled to learn the caps; given out again by ``next()``.
  private let first: Mutex<Sample?>

  /// Nothing for this long, and no end: the decoder makes no progress.
  private static let stall = 30_000_000_000

  /// Starts decoding at the beginning of the video.
  init(_ video: VideoIndex, _ topology: Topology, _ cancellation: Cancellation) throws {
    // Alpha that lies in a second stream beside the picture is not carried: see docs/limits.md.
    let candidates = Registry.factories(.decoder, sinks: video.caps).filter { !$0.hasSuffix("alphadecodebin") }
    // jpegdec gives 4:2:0 whatever the picture has; FFmpeg's decoder gives what is there.
    let isJPEG = video.caps.mediaType == "image/jpeg"
    guard let decoder = (isJPEG ? candidates.first { $0 == "avdec_mjpeg" } : nil) ?? candidates.first else {
      throw RetrogradeError(
        .missingPlugin, "\(topology.source): no decoder for \(video.caps.codecName); \(PackageHint.all)")
    }
    description = topology.description([
      (
        video.path,
        "\(decoder) name=decoder ! video/x-raw ! "
          + "appsink name=video sync=false async=false enable-last-sample=false max-buffers=2"
      )
    ])
    source = topology.source
    do {
      pipeline = try Pipeline(description)
      sink = try pipeline.appSink("video")
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(topology.source, error)
    }
    sink.pad?.acceptVideoMeta()
    topology.endAtEndOfFile(pipeline)
    pipeline.set(.playing)
    let sample = try VideoDecoder.pull(pipeline, sink, cancellation, topology.source)
    guard let sample, let caps = sample.caps else {
      throw RetrogradeError(
        .damagedInput, "\(topology.source): no picture can be decoded from its \(video.caps.codecName) stream")
    }
    self.caps = caps.completed(from: video.caps)
    frameBytes = max(sample.buffer.size, 1)
    first = Mutex(sample)
  }

  deinit { pipeline.set(.null) }

  /// The next frame in display order; nil at the end of the stream.
  func next(_ cancellation: Cancellation) throws -> Sample? {
    if let sample = first.withLock({ $0.take() }) { return sample }
    return try VideoDecoder.pull(pipeline, sink, cancellation, source)
  }

  private static func pull(
    _ pipeline: Pipeline, _ sink: AppSink, _ cancellation: Cancellation, _ source: String
  ) throws -> Sample? {
    try cancellation.onCancel({ pipeline.set(.null) }) {
      var waited = 0
      while true {
        try cancellation.check()
        if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) { return sample }
        if sink.isEndOfStream { return nil }
        while let message = pipeline.nextMessage() {
          // What the decoder could give before it failed has been pulled by now.
          if case .failed(let error) = message { throw RetrogradeError.reading(source, error) }
        }
        waited += 100_000_000
        if waited > stall {
          throw RetrogradeError(.damagedInput, "\(source): damaged beyond use: decoding it makes no progress")
        }
      }
    }
  }

  /// Goes to `time`, in stream time; ``next(_:)`` then gives the frames from there on.
  /// - Throws: ``Mismatch`` if the source can't be sought in.
  func start(at time: ClockTime) throws {
    first.withLock { $0 = nil }
    guard pipeline.seek(to: time) else { throw Mismatch() }
  }

  /// A window did not come out as the index says.
  struct Mismatch: Error {}

  /// Decodes one window.
  /// - Parameter starts: when each of the video's frames starts, in stream time.
  /// - Throws: ``Mismatch`` if the frames that come are not exactly those that the index promises.
  func decode(
    _ window: Window, starts: [ClockTime], spool: Spool?, gauge: MemoryGauge, _ cancellation: Cancellation
  ) throws -> DecodedWindow {
    let expected = starts[window.frames]
    guard let from = expected.first, let to = expected.last else { throw Mismatch() }
    let tolerance = VideoDecoder.tolerance(of: expected)
    // The first frames in display may depend on a keyframe that an edit list hides; from 0 on, that is decoded too.
    try start(at: window.frames.lowerBound == 0 ? min(from, .zero) : from)
    let decoded = DecodedWindow(spool: spool, gauge: gauge)
    var times: [ClockTime] = []
    // No stop is asked for: several demuxers end a frame or two early, and the frames before a keyframe in display may
    // come after it in the file. What is wanted is known from the index.
    while times.count < expected.count || (times.last.map { $0 + tolerance < to } ?? true) {
      guard let sample = try next(cancellation), let time = sample.streamTime else { break }
      if time + tolerance < from { continue }
      if time > to + tolerance { break }
      if let last = times.last, time <= last + tolerance {
        // The frame that overlaps the window's start comes clipped to it, with the window's own first time.
        try decoded.replaceLast(with: sample.buffer)
        times[times.count - 1] = time
        continue
      }
      decoded.push(sample.buffer)
      times.append(time)
      if times.count <= window.spooled { try decoded.moveToSpool(times.count - 1) }
    }
    let isExact =
      times.count == expected.count
      && zip(times, expected).allSatisfy { abs($0.nanoseconds - $1.nanoseconds) <= tolerance.nanoseconds }
    guard isExact else { throw Mismatch() }
    return decoded
  }

  /// How far a frame's time may be off the index: containers round.
  static func tolerance(of times: ArraySlice<ClockTime>) -> ClockTime {
    let gap = zip(times, times.dropFirst()).map { $1.nanoseconds - $0.nanoseconds }.min() ?? 3_000_000
    return ClockTime(nanoseconds: min(1_000_000, gap / 3))
  }

  /// Decodes everything from here to the end, or to `limit`, forwards; the last `held` frames stay in memory, the others
  /// go to the spool.
  /// - Parameter given: when each frame starts, where the decoder does not say: avdec_gif stamps every frame with 0.
  /// - Returns: the frames, and when each starts, in stream time.
  func decodeForward(
    before limit: ClockTime?, given: [ClockTime]?, held: Int, spool: Spool, gauge: MemoryGauge,
    _ cancellation: Cancellation
  ) throws -> (window: DecodedWindow, starts: [ClockTime], damage: RetrogradeError?) {
    let decoded = DecodedWindow(spool: spool, gauge: gauge)
    var times: [ClockTime] = []
    var damage: RetrogradeError?
    decoding: while true {
      let sample: Sample?
      do {
        sample = try next(cancellation)
      } catch let error as RetrogradeError where error.code != .cancelled {
        damage = error
        break decoding
      }
      guard let sample else { break }
      guard let time = given.map({ times.count < $0.count ? $0[times.count] : nil }) ?? sample.streamTime ?? times.last
      else { continue }
      // Frames that begin before an edit, or after its end, are no part of the presentation.
      if time < sample.segment.time { continue }
      if let limit, time >= limit { break }
      if let last = times.last, time <= last {
        if time == last {
          try decoded.replaceLast(with: sample.buffer)
        }
        continue
      }
      decoded.push(sample.buffer)
      times.append(time)
      if times.count > held { try decoded.moveToSpool(times.count - 1 - held) }
    }
    if times.isEmpty, let damage { throw damage }
    return (decoded, times, damage)
  }
}
