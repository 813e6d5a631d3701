import CVersion
import FoundationEssentials
import MediaTime
import Retrograde
import RetrogradeEngine
import Synchronization

/// Open streams, each of one file in one order of play. If more than ``most`` are open, the least
/// recently used one is closed.
final class OpenStreams: Sendable {
  typealias OpenFunction =
    @Sendable (_ path: String, SegmentedMirror.Settings, Cancellation) throws -> any MirrorStream

  struct Key: Hashable, Sendable {
    let file: String
    let name: StreamName
  }

  private struct State {
    var streams: [Key: (stream: OpenStream, used: Int)] = [:]
    var clock = 0
  }

  private let settings: ServerSettings
  private let open: OpenFunction
  private let line: WorkLine
  private let crashes: CrashedFiles
  private let openings = SingleFlight<Key, OpenStream>()
  private let state = Mutex(State())

  /// Maximum number of open streams.
  static let most = 4

  init(_ settings: ServerSettings, _ line: WorkLine, _ crashes: CrashedFiles, open: @escaping OpenFunction) {
    (self.settings, self.line, self.crashes, self.open) = (settings, line, crashes, open)
  }

  /// Returns the stream of a file. Reopens it if the file has changed, or the stream can make no
  /// more segments.
  /// - Throws: ``RetrogradeError``, `CancellationError` or `WorkLine.Busy`.
  func stream(_ file: Catalog.File, _ content: OpenFile, _ name: StreamName) async throws -> OpenStream {
    let key = Key(file: file.id, name: name)
    let known = state.withLock { state in
      state.clock += 1
      state.streams[key]?.used = state.clock
      return state.streams[key]?.stream
    }
    try await crashes.check(file.path)
    if let known, !known.mirror.hasEnded, known.content.stamp == content.stamp { return known }
    return try await openings.value(key) { [self] cancellation in
      let stream = try await line.perform(.usual) {
        try await crashes.working(on: file.path) {
          try await onOwnThread("open", cancellation) { [self] in try opened(file, content, name, cancellation) }
        }
      }
      keep(stream, key)
      return stream
    }
  }

  /// Closes all streams, cancels pending openings, and refuses new ones.
  func close() {
    openings.close()
    state.withLock { $0.streams = [:] }
  }

  var count: Int { state.withLock { $0.streams.count } }

  private func opened(
    _ file: Catalog.File, _ content: OpenFile, _ name: StreamName, _ cancellation: Cancellation
  ) throws -> OpenStream {
    let playback = name.playback(settings.playback)
    let mirror = try open(
      content.path, SegmentedMirror.Settings(playback: playback, heights: settings.heights, resources: settings.share),
      cancellation)
    guard !mirror.renditions.isEmpty else {
      throw RetrogradeError(.damagedInput, about: file.name, "contains nothing to play", remedy: "use another file")
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let parts = [
      (try? encoder.encode(content.stamp)) ?? Data(), (try? encoder.encode(playback)) ?? Data(),
      (try? encoder.encode(settings.heights)) ?? Data(),
    ].map { String(decoding: $0, as: UTF8.self) }
    let version = digest(file.path, parts[0], parts[1], parts[2], RETROGRADE_VERSION).prefix(StreamPart.versionLength)
    return OpenStream(
      file: file, content: content, name: name, playback: playback, mirror: mirror, version: String(version))
  }

  private func keep(_ stream: OpenStream, _ key: Key) {
    // Release the streams outside the lock.
    var gone: [OpenStream] = []
    state.withLock { state in
      state.clock += 1
      if let old = state.streams.updateValue((stream, state.clock), forKey: key) { gone.append(old.stream) }
      while state.streams.count > OpenStreams.most,
        let oldest = state.streams.min(by: { $0.value.used < $1.value.used })
      {
        state.streams[oldest.key] = nil
        gone.append(oldest.value.stream)
      }
    }
  }
}

/// Indexed file in an order of play.
final class OpenStream: Sendable {
  let file: Catalog.File
  /// File that `mirror` reads.
  let content: OpenFile
  let name: StreamName
  let playback: PlaybackOptions
  let mirror: any MirrorStream
  /// Version of the stream; changes with the file, the order of play, the program or its settings.
  let version: String

  init(
    file: Catalog.File, content: OpenFile, name: StreamName, playback: PlaybackOptions, mirror: any MirrorStream,
    version: String
  ) {
    (self.file, self.content, self.name, self.playback) = (file, content, name, playback)
    (self.mirror, self.version) = (mirror, version)
  }

  func rendition(_ name: String) -> Int? { mirror.renditions.firstIndex { $0.name == name } }
}
