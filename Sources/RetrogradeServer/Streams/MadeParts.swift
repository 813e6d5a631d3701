import FoundationEssentials
import MediaTime
import Retrograde
import RetrogradeEngine
import Synchronization

/// What is made of streams when it is asked for, once for all who ask at the same time, and kept for those who ask later.
final class MadeParts: Sendable {
  private let store: ByteStore
  private let line: WorkLine
  private let works = SharedWork<String, StoredBytes>()
  /// What is made unasked: what a player asks for next, most likely.
  private let ahead: Ahead

  init(_ store: ByteStore, _ line: WorkLine, _ ahead: Ahead) {
    (self.store, self.line, self.ahead) = (store, line, ahead)
  }

  /// - Returns: nil where the stream has no such part.
  /// - Throws: ``RetrogradeError``, `CancellationError` or `WorkLine.Busy`.
  func part(_ part: MadePart, of stream: OpenStream) async throws -> StoredBytes? {
    guard let (urgency, make) = MadeParts.recipe(part, stream) else { return nil }
    let bytes = try await made(stream.version + "/" + part.name, urgency, make)
    if case .segment(let number, let rendition) = part {
      let next = MadePart.segment(number + 1, rendition: rendition)
      let key = stream.version + "/" + next.name
      if store.find(key) == nil, line.isIdle, let (_, make) = MadeParts.recipe(next, stream) {
        ahead.begin { [self] in _ = try await made(key, .usual, make) }
      }
    }
    return bytes
  }

  /// What `make` gives, unless it is kept under that key. It runs on a thread of its own.
  func made(
    _ key: String, _ urgency: WorkLine.Urgency, _ make: @escaping @Sendable (Cancellation) throws -> [UInt8]
  ) async throws -> StoredBytes {
    if let kept = store.find(key) { return kept }
    return try await works.value(key) { [store, line] cancellation in
      try await line.perform(urgency) {
        try await onOwnThread("make", cancellation) { store.add(key, try make(cancellation)) }
      }
    }
  }

  /// A picture that tells a file from others: of its third second, since many films begin in the dark. What has none gets a drawing.
  func picture(of file: Catalog.File, _ resources: Resources) async throws -> (StoredBytes, Answer.MediaType) {
    guard let stamp = FileStamp(file.path), let known = try? JSONEncoder().encode(stamp) else {
      throw RetrogradeError(.noInput, about: file.name, "is no longer there")
    }
    let key = "\(file.id)/\(String(decoding: known, as: UTF8.self))/picture"
    let none = key + "/none"
    if let drawn = store.find(none) { return (drawn, .drawing) }
    if let kept = store.find(key) { return (kept, .jpeg) }
    do {
      let bytes = try await works.value(key) { [store, line] _ in
        let file = try await line.perform(.low) { try await MadeParts.grab(file, resources) }
        return store.add(key, try file.read(0..<file.size))
      }
      return (bytes, .jpeg)
    } catch let error as RetrogradeError where [.damagedInput, .usage, .missingPlugin].contains(error.code) {
      return (store.add(none, Page.standIn), .drawing)
    }
  }

  private static func grab(_ file: Catalog.File, _ resources: Resources) async throws -> OpenFile {
    var options = ReverseOptions(resources: resources)
    options.encoding.width = 480
    for place in [SourcePosition.time(ClockTime(seconds: 3)), .start] {
      do {
        return try await ScratchFolder.made(in: resources.spoolDirectory, "picture.jpg") { [options] path in
          try await FrameGrab(file.path, at: [place], options: options).write(to: path)
        }
      } catch is RetrogradeError where place != .start {
        // It is shorter than that.
      }
    }
    throw RetrogradeError(.damagedInput, about: file.name, "has no picture")
  }

  /// Ends all work.
  func cancel() {
    ahead.cancel()
    works.cancelAll()
  }

  /// So high are pictures for the strip, in pixels, and so many points has a waveform.
  static let pictureHeight = 120
  static let waveformPoints = 2000

  private static func recipe(
    _ part: MadePart, _ stream: OpenStream
  ) -> (WorkLine.Urgency, @Sendable (Cancellation) throws -> [UInt8])? {
    let mirror = stream.mirror
    switch part {
    case .initialization(let name):
      guard let rendition = stream.rendition(name) else { return nil }
      return (.high, { try mirror.initialization(rendition, $0) })
    case .segment(let number, let name):
      guard let rendition = stream.rendition(name), mirror.renditions[rendition].segments.indices.contains(number)
      else { return nil }
      return (.high, { try mirror.segment(number, of: rendition, $0) })
    case .picture(let milliseconds):
      let time = ClockTime(nanoseconds: Int64(milliseconds) * 1_000_000)
      guard !mirror.frameStarts.isEmpty, time < mirror.duration else { return nil }
      return (.low, { try mirror.picture(at: time, height: pictureHeight, isExact: false, $0) })
    case .waveform:
      guard mirror.renditions.contains(where: { !$0.isVideo }) else { return nil }
      return (
        .low,
        { cancellation in
          let peaks = try mirror.waveform(points: waveformPoints, cancellation)
          // A byte each is as fine as a line on a screen.
          return Array(try JSONEncoder().encode(peaks.map { Int(($0.clampedToUnit * 255).rounded()) }))
        }
      )
    default: return nil
    }
  }
}

/// What is made unasked: some pieces at a time, as long as nobody has to wait for them.
final class Ahead: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var count = 0
  }

  private let most: Int
  private let state = Mutex(State())

  init(most: Int) { self.most = most }

  /// Begins it, unless there is enough already.
  func begin(_ body: @escaping @Sendable () async throws -> Void) {
    state.withLock { state in
      guard state.tasks.count < most else { return }
      state.count += 1
      let number = state.count
      state.tasks[number] = Task { [weak self] in
        try? await body()
        self?.end(number)
      }
    }
  }

  func cancel() {
    for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
  }

  private func end(_ number: Int) { state.withLock { $0.tasks[number] = nil } }
}

extension Float {
  /// 0 for what is no number.
  fileprivate var clampedToUnit: Float { self > 0 ? min(self, 1) : 0 }
}
