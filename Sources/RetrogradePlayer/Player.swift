import GStreamer
public import MediaTime
public import RetrogradeEngine
import RetrogradePlugin
import Synchronization

/// Plays a file in any order of play, in a desktop window and with audio, without writing a file.
///
/// ```swift
/// let player = Player("holiday.mp4", playback: PlaybackOptions(loop: .pingPong), isEndless: true)
/// try await player.run { event in
///   switch event {
///   case .key("q"): player.stop()
///   case .key("space"): player.togglePause()
///   case .key("Right"): player.seek(by: .seconds(5))
///   case .position(let time, let end, _): print(time, end.map { "of \($0)" } ?? "")
///   default: break
///   }
/// }
/// ```
///
/// Uses `playbin` with this library's own source element, so playback starts immediately, even at
/// the end of the file, and a seek decodes only the frames around its target.
public final class Player: Sendable {
  public enum Event: Sendable {
    /// Current position, and duration (`of`), of the output; reported several times a second. The
    /// duration is nil if playback is endless or the duration is unknown.
    case position(ClockTime, of: ClockTime?, isPaused: Bool)
    /// A key was pressed in the window: a character, or a name such as `space`, `Left`, `Right`.
    case key(String)
    case warning(String)
  }

  private struct State {
    var pipeline: Pipeline?
    var isPaused = false
    var isStopped = false
  }

  private let input: String
  private let playback: PlaybackOptions
  private let resources: Resources
  private let isEndless: Bool
  private let sinks: PlayerSinks
  private let cancellation = Cancellation()
  private let state = Mutex(State())

  /// - Parameters:
  ///   - input: a path or a URL; `-` is standard input, which is kept in a temporary file during
  ///     playback.
  ///   - playback: order of play. Only loop, score, joint, dissolve, interpolation, keepsPitch,
  ///     count, timing, start and end are used; start and end only as times.
  ///   - isEndless: repeats the loop forever, regardless of the count.
  ///   - resources: memory and spool.
  ///   - videoSink: video sink in `gst-launch-1.0` syntax; nil for a window.
  ///   - audioSink: audio sink in `gst-launch-1.0` syntax; nil for the default audio device.
  public init(
    _ input: String, playback: PlaybackOptions = PlaybackOptions(), isEndless: Bool = false,
    resources: Resources = Resources(), videoSink: String? = nil, audioSink: String? = nil
  ) {
    self.input = input
    self.playback = playback
    self.resources = resources
    self.isEndless = isEndless
    sinks = PlayerSinks(video: videoSink, audio: audioSink)
  }

  /// Plays until the end, ``stop()``, or the cancellation of the task.
  /// - Parameter report: called on a thread of the player.
  /// - Throws: `RetrogradeError`.
  public func run(_ report: @escaping @Sendable (Event) -> Void = { _ in }) async throws {
    do {
      try await play(report)
    } catch is CancellationError where state.withLock({ $0.isStopped }) {
      // `stop()` ends playback without an error.
    }
  }

  private func play(_ report: @escaping @Sendable (Event) -> Void) async throws {
    try await onOwnThread("player", cancellation) { [self] in
      // A pipe can be read only once, so the pipe's bytes are kept in the spool during playback.
      let source = try Source(input, resources: resources, cancellation: cancellation)
      let pipeline = try make(source)
      defer {
        state.withLock { $0.pipeline = nil }
        pipeline.set(.null)
      }
      state.withLock { $0.pipeline = pipeline }
      pipeline.set(.playing)
      try withExtendedLifetime(source) { try follow(pipeline, source, report) }
    }
  }

  private func make(_ source: Source) throws -> Pipeline {
    try RetrogradeElements.register()
    do {
      let uri = try GStreamer.uri(ofFile: source.path)
      let pipeline = try Pipeline(
        "playbin uri=\(Description.quoted("reverse+" + uri)) \(sinks.properties())")
      let (playback, resources, isEndless) = (playback, resources, isEndless)
      pipeline.onSourceSetup { source in
        do throws(GStreamerError) {
          try source.set("loop", playback.loop.rawValue)
          if let score = playback.score { try source.set("score", "\(score)") }
          if let joint = playback.joint { try source.set("joint", "\(joint.nanoseconds)") }
          try source.set("count", isEndless ? "0" : "\(playback.count)")
          if playback.dissolve > .zero { try source.set("dissolve", "\(playback.dissolve.nanoseconds)") }
          if playback.interpolation != nil { try source.set("interpolate", "true") }
          if playback.keepsPitch { try source.set("keep-pitch", "true") }
          try source.set("memory-budget", "\(resources.memory.bytes)")
          try source.set("spool-dir", resources.spoolDirectory)
          try source.set("timing", playback.timing.rawValue)
          if case .time(let start)? = playback.start { try source.set("start", "\(start.nanoseconds)") }
          if case .time(let end)? = playback.end { try source.set("stop", "\(end.nanoseconds)") }
        } catch {
          source.fail(error)
        }
      }
      return pipeline
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(source.name, error)
    }
  }

  private func follow(_ pipeline: Pipeline, _ source: Source, _ report: @Sendable (Event) -> Void) throws {
    while true {
      try cancellation.check()
      switch pipeline.nextMessage(timeout: ClockTime(nanoseconds: 100_000_000)) {
      case .endOfStream: return
      case .failed(let error) where error.message.contains("window was closed"): return
      case .failed(let error) where error.element == "reversesrc":
        // The message of reversesrc names the file and the reason.
        throw RetrogradeError(
          RetrogradeError.reading(input, error).code, "\(error.message.replacing(source.path, with: source.name))",
          underlying: error)
      case .failed(let error): throw sinks.failure(error) ?? RetrogradeError.reading(source.name, error)
      case .warning(let warning): report(.warning(PlayerSinks.text(of: warning)))
      case .key(let key): report(.key(key))
      case nil:
        report(
          .position(
            pipeline.position ?? .zero, of: isEndless ? nil : pipeline.duration,
            isPaused: state.withLock { $0.isPaused }))
      default: break
      }
    }
  }

  /// Ends playback.
  public func stop() {
    state.withLock { $0.isStopped = true }
    cancellation.cancel()
  }

  /// Pauses or resumes playback.
  public func togglePause() {
    let (pipeline, isPaused) = state.withLock { state in
      state.isPaused.toggle()
      return (state.pipeline, state.isPaused)
    }
    pipeline?.set(isPaused ? .paused : .playing)
  }

  /// Seeks forward by `time` of the output, or back if `time` is negative.
  public func seek(by time: ClockTime) {
    guard let pipeline = state.withLock({ $0.pipeline }), let position = pipeline.position else { return }
    let end = isEndless ? nil : pipeline.duration
    let target = max(.zero, position + time)
    _ = pipeline.seek(to: end.map { min($0, target) } ?? target)
  }
}
