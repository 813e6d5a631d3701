import FoundationEssentials
import MediaTime
import Retrograde
import RetrogradeEngine
import Synchronization

/// Makes the parts of streams (``PartID``) on request. Each part is made once for all waiting
/// clients, and is cached.
final class PartCache: Sendable {
  private let store: ByteStore
  private let line: WorkLine
  private let flights: SingleFlightStreams
  /// Prefetches the parts that a player probably requests next.
  private let prefetcher: Prefetcher
  private let crashes: CrashedFiles
  private let run: ServerRunning

  init(
    _ store: ByteStore, _ line: WorkLine, _ prefetcher: Prefetcher, _ crashes: CrashedFiles,
    run: @escaping ServerRunning
  ) {
    (self.store, self.line, self.prefetcher, self.crashes, self.run) = (store, line, prefetcher, crashes, run)
    flights = SingleFlightStreams { key, bytes in
      try await onOwnThread("keep", Cancellation()) { store.add(key, bytes) }
    }
  }

  typealias Found = SingleFlightStreams.Found

  /// Returns a part of a stream. A segment is returned as soon as its first bytes are available.
  /// - Returns: nil if the stream has no such part.
  /// - Throws: ``RetrogradeError``, `CancellationError` or `WorkLine.Busy`.
  func part(_ part: PartID, of stream: OpenStream) async throws -> Found? {
    let key = stream.version + "/" + part.name
    guard let recipe = PartCache.recipe(part, stream) else { return nil }
    // The requested part may be the end of a segment. If the whole segment is cached, return the
    // whole segment, because it contains the part.
    let all = PartCache.whole(part).map { stream.version + "/" + $0.name }
    let found = found(key, or: all, recipe, stream) { [weak self] in self?.makeNext(part, of: stream) }
    guard case .begun(let reader) = found else {
      makeNext(part, of: stream)
      return found
    }
    guard recipe.isLong else { return .whole(try await reader.whole()) }
    switch try await reader.more(after: 0) {
    case .whole(let bytes): return .whole(bytes)
    case .bytes: return .begun(reader)
    }
  }

  private static func whole(_ part: PartID) -> PartID? {
    guard case .segment(let number, let piece, let rendition) = part, piece > 0 else { return nil }
    return .segment(number, from: 0, rendition: rendition)
  }

  /// Makes the parts that a player needs for the first frame, if the queue of jobs is idle. Does
  /// nothing if the stream has several sizes or audio streams, because the player chooses among
  /// them. Uses the rendition in the source's codec, which browsers prefer, unless this codec is
  /// HEVC, which few browsers can play.
  func makeFirst(of stream: OpenStream) {
    let (videos, audio) = (stream.mirror.renditions.filter(\.isVideo), stream.mirror.renditions.filter { !$0.isVideo })
    guard videos.count(where: { $0.sourceCodec == nil }) <= 1, audio.count <= 1, line.isIdle else { return }
    for rendition in [videos.last { $0.sourceCodec != "HEVC" }, audio.last].compactMap({ $0 }) {
      prefetch(.segment(0, from: 0, rendition: rendition.name), of: stream)
    }
  }

  private func makeNext(_ part: PartID, of stream: OpenStream) {
    guard case .segment(let number, _, let rendition) = part, line.isIdle else { return }
    prefetch(.segment(number + 1, from: 0, rendition: rendition), of: stream)
  }

  private func prefetch(_ part: PartID, of stream: OpenStream) {
    let key = stream.version + "/" + part.name
    guard let recipe = PartCache.recipe(part, stream), store.find(key) == nil else { return }
    prefetcher.begin { [self] done in
      var recipe = recipe
      recipe.urgency = .usual
      guard case .begun(let reader) = found(key, recipe, stream, onMade: done) else { return }
      _ = try await reader.whole()
    }
  }

  /// - Parameter larger: key of a part that contains the requested part; used if that larger part
  ///   is cached.
  private func found(
    _ key: String, or larger: String? = nil, _ recipe: Recipe, _ stream: OpenStream,
    onMade: @escaping @Sendable () -> Void
  ) -> Found {
    flights.part(key, find: { store.find(key) ?? larger.flatMap(store.find) }, onMade: onMade) {
      [line, crashes] cancellation, give in
      for step in recipe.steps {
        try await line.perform(recipe.urgency) {
          try await crashes.working(on: stream.file.path) {
            try await onOwnThread("make", cancellation) { try step(cancellation, give) }
          }
        }
      }
    }
  }

  /// Returns the thumbnail of a file: the frame at three seconds, because many files begin with
  /// black frames, or the first frame of a shorter file. If no frame can be decoded, returns a
  /// drawing.
  func picture(
    of file: Catalog.File, _ content: OpenFile, _ resources: Resources
  ) async throws -> (StoredBytes, Answer.MediaType) {
    let key = "\(file.id)/\(String(decoding: try JSONEncoder().encode(content.stamp), as: UTF8.self))/picture"
    let none = key + "/none"
    if let drawn = store.find(none) { return (drawn, .drawing) }
    if let kept = store.find(key) { return (kept, .jpeg) }
    do {
      let reader = flights.reader(key) { [line, crashes, run] _, give in
        let picture = try await line.perform(.low) {
          try await crashes.working(on: file.path) { try await PartCache.grab(file, content, resources, run) }
        }
        give(try picture.read(0..<picture.size))
      }
      return (try await reader.whole(), .jpeg)
    } catch let error as RetrogradeError where [.damagedInput, .usage, .missingPlugin, .crashed].contains(error.code) {
      return (store.add(none, Page.placeholder), .drawing)
    }
  }

  private static func grab(
    _ file: Catalog.File, _ content: OpenFile, _ resources: Resources, _ run: @escaping ServerRunning
  ) async throws -> OpenFile {
    // The path is valid as long as the file is open.
    defer { withExtendedLifetime(content) {} }
    var options = ReverseOptions(resources: resources)
    options.encoding.width = 480
    for place in [SourcePosition.time(ClockTime(seconds: 3)), .start] {
      do {
        return try await ScratchFolder.made(in: resources.spoolDirectory, "picture.jpg") { [options] path in
          _ = try await run(.frames(input: content.path, [place], options, output: path)).summary()
        }
      } catch let error as RetrogradeError where place != .start && error.code != .crashed {
        // The file may be shorter than three seconds: try its first frame.
      }
    }
    throw RetrogradeError(.damagedInput, about: file.name, "contains no frame for a thumbnail")
  }

  /// Cancels all work and refuses new work.
  func close() {
    prefetcher.cancel()
    flights.close()
  }

  /// Height of the frame strip, in pixels.
  static let pictureHeight = 120
  /// Number of points of a waveform.
  static let waveformPoints = 2000
  /// Duration of the audio in one step of a waveform.
  private static let waveformStretch = ClockTime(seconds: 8)

  /// Steps to make a part.
  private struct Recipe: Sendable {
    typealias Step = @Sendable (Cancellation, @escaping @Sendable ([UInt8]) -> Void) throws -> Void

    var urgency: WorkLine.Urgency
    /// True if making the part takes so long that its first bytes are delivered before all bytes
    /// are available.
    var isLong = false
    /// Sequential steps; more urgent work may run between them.
    let steps: [Step]

    init(_ urgency: WorkLine.Urgency, isLong: Bool = false, _ make: @escaping Step) {
      (self.urgency, self.isLong, steps) = (urgency, isLong, [make])
    }

    init(_ urgency: WorkLine.Urgency, steps: [Step]) { (self.urgency, self.steps) = (urgency, steps) }
  }

  private static func recipe(_ part: PartID, _ stream: OpenStream) -> Recipe? {
    let mirror = stream.mirror
    switch part {
    case .segment(let number, let piece, let name):
      guard let rendition = stream.rendition(name), piece < mirror.pieces(ofSegment: number, of: rendition) else {
        return nil
      }
      return Recipe(.high, isLong: true) { try mirror.segment(number, from: piece, of: rendition, $0, $1) }
    case .frames:
      // Queue and cache the list, because it has several megabytes for a long source.
      return Recipe(.usual) { $1(mirror.frameStarts.seconds) }
    case .picture(let milliseconds):
      let time = ClockTime(nanoseconds: Int64(milliseconds) * 1_000_000)
      guard !mirror.frameStarts.isEmpty, time < mirror.duration else { return nil }
      return Recipe(.low) { $1(try mirror.picture(at: time, height: pictureHeight, isExact: false, $0)) }
    case .waveform:
      guard mirror.renditions.contains(where: { !$0.isVideo }) else { return nil }
      let stretch = waveformStretch.seconds / mirror.duration.seconds * Double(waveformPoints)
      let starts = Array(stride(from: 0, to: waveformPoints, by: Int(min(max(stretch, 1), Double(waveformPoints)))))
      return Recipe(
        .low,
        steps: zip(starts, starts.dropFirst() + [waveformPoints]).map { start, end in
          { cancellation, give in
            let peaks = try mirror.waveform(start..<end, of: waveformPoints, cancellation)
            // 256 levels are enough for a waveform on a screen.
            let values = peaks.map { "\(Int(($0.clampedToUnit * 255).rounded()))" }.joined(separator: ",")
            give(Array(((start == 0 ? "[" : ",") + values + (end == waveformPoints ? "]" : "")).utf8))
          }
        })
    default: return nil
    }
  }
}

/// Runs a few prefetching jobs at a time. The jobs are cancelled when clients need their slots.
final class Prefetcher: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var count = 0
  }

  private let most: Int
  private let state = Mutex(State())

  init(most: Int) { self.most = most }

  /// Starts a job unless enough jobs are running.
  /// - Parameter body: calls `done` if another job may start before `body` ends.
  func begin(_ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) async throws -> Void) {
    state.withLock { state in
      guard state.tasks.count < most else { return }
      state.count += 1
      let number = state.count
      let end: @Sendable () -> Void = { [weak self] in self?.end(number) }
      state.tasks[number] = Task {
        try? await body(end)
        end()
      }
    }
  }

  func cancel() {
    for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
  }

  private func end(_ number: Int) { state.withLock { $0.tasks[number] = nil } }
}

extension [ClockTime] {
  /// The times in seconds, as little-endian 64-bit floats.
  fileprivate var seconds: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count * 8) { bytes, filled in
      for (number, time) in enumerated() {
        UnsafeMutableRawBufferPointer(bytes).storeBytes(
          of: time.seconds.bitPattern.littleEndian, toByteOffset: number * 8, as: UInt64.self)
      }
      filled = count * 8
    }
  }
}

extension Float {
  /// Value clamped to 0 to 1; 0 for NaN.
  fileprivate var clampedToUnit: Float { self > 0 ? min(self, 1) : 0 }
}
