import GStreamer
import MediaTime
import RetrogradeEngine

/// Loudness of the frequency bands of audio over time.
struct Spectrogram {
  private static let bands = 24
  private static let interval = ClockTime(nanoseconds: 40_000_000)
  /// Lowest measured level, in dB; lower levels count as this level.
  private static let quietest: Float = -90

  private let start: ClockTime
  /// Levels of all bands for each interval, in dB.
  private var decibels: [Float] = []

  /// - Parameters:
  ///   - legs: range to analyse, played forwards.
  /// - Throws: ``RetrogradeError`` if the audio can't be analysed.
  init(_ track: AudioTrack, _ legs: PlaybackLegs, _ cancellation: Cancellation) throws {
    start = legs.presentation.span.start
    do {
      let pipeline = try Pipeline(
        "appsrc name=in format=time block=true max-buffers=4 ! audioconvert ! audioresample ! "
          + "audio/x-raw,format=F32LE,rate=16000 ! spectrum bands=\(Spectrogram.bands) threshold=\(Int(Spectrogram.quietest)) "
          + "interval=\(Spectrogram.interval.nanoseconds) ! fakesink sync=false")
      defer { pipeline.set(.null) }
      let source = try pipeline.appSource("in")
      source.setCaps(track.caps)
      pipeline.set(.playing)
      // Pad late audio with silence, so that the first interval begins at the start of the
      // presentation.
      var player = AudioPlayer(track, legs, isPadded: true)
      while let part = try player.next() {
        try cancellation.check()
        part.buffer.stamp(pts: part.shown.start, duration: part.shown.duration)
        guard source.push(part.buffer) else { break }
        _ = try take(pipeline, waiting: .zero)
      }
      source.endOfStream()
      while try !take(pipeline, waiting: ClockTime(nanoseconds: 100_000_000)) { try cancellation.check() }
    } catch let error as GStreamerError {
      throw RetrogradeError(.internalFailure, "the audio can't be analysed: \(error.message)", underlying: error)
    }
  }

  /// Adds the available results of the `spectrum` element to ``decibels``.
  /// - Returns: true after the last result.
  private mutating func take(_ pipeline: Pipeline, waiting time: ClockTime) throws -> Bool {
    while let message = pipeline.nextMessage(timeout: time) {
      switch message {
      case .spectrum(_, let found) where found.count == Spectrogram.bands: decibels += found
      case .endOfStream: return true
      case .failed(let error): throw error
      default: break
      }
    }
    return false
  }

  /// Returns the difference between the audio around two times, in dB: the mean over all bands of
  /// three pairs of intervals. One pair contains the two times; the other pairs are the intervals
  /// before and after.
  func distance(_ a: ClockTime, _ b: ClockTime) -> Double {
    let (first, second) = (interval(at: a), interval(at: b))
    let count = decibels.count / Spectrogram.bands
    var (sum, intervals) = (Float(0), 0)
    for step in -1...1 {
      let (x, y) = (first + step, second + step)
      guard min(x, y) >= 0, max(x, y) < count else { continue }
      for band in 0..<Spectrogram.bands {
        sum += abs(decibels[x * Spectrogram.bands + band] - decibels[y * Spectrogram.bands + band])
      }
      intervals += 1
    }
    return intervals == 0 ? 0 : Double(sum) / Double(intervals * Spectrogram.bands)
  }

  /// Returns the average of ``distance(_:_:)`` between neighbouring intervals during `span`, in dB.
  func usual(_ span: TimeSpan) -> Double {
    let times = stride(from: interval(at: span.start), to: interval(at: span.end), by: 1)
    let steps = times.map { step -> Double in
      let time = start + Spectrogram.interval * step
      return distance(time, time + Spectrogram.interval)
    }
    return steps.isEmpty ? 0 : steps.reduce(0, +) / Double(steps.count)
  }

  private func interval(at time: ClockTime) -> Int {
    Int(exactly: ((time - start) / Spectrogram.interval).rounded(.down)) ?? 0
  }
}
