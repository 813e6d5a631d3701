import Foundation
import MediaTime
import Retrograde
import RetrogradeEngine
import Soup
import Synchronization
import TestSupport

@testable import RetrogradeServer

/// Stream with segments of a few bytes. A segment is made at once, or when the test opens a gate.
final class FakeStream: MirrorStream {
  let renditions: [SegmentedMirror.Rendition]
  let duration = ClockTime(seconds: 10)
  let frameStarts = (0..<250).map { ClockTime(sampleIndex: $0, rate: 25) }
  var frameTimes: [ClockTime] { frameStarts }
  let chapters: [Chapter]
  let subtitles: [SegmentedMirror.Subtitles]
  let warnings: [Warning] = []
  private let gate: FakeGate?
  private let size: Int
  /// Bytes of a segment, without the last two, which are the numbers of the rendition and the
  /// segment. Created in advance, so that no test has to wait for them.
  let content: [UInt8]
  private let ahead: Int
  private let fails: Bool
  private let code: RetrogradeError.Code

  /// Creates a stream with two video renditions and one audio rendition.
  /// - Parameters:
  ///   - gate: blocks the segments until it is opened.
  ///   - size: number of bytes in a segment, without the last two.
  ///   - ahead: number of bytes that are delivered before the gate.
  ///   - fails: true if the segment fails after the gate.
  init(
    gate: FakeGate? = nil, size: Int = 100, ahead: Int = 0, fails: Bool = false,
    code: RetrogradeError.Code = .damagedInput, subtitles: [SegmentedMirror.Subtitles] = []
  ) {
    (self.gate, self.size, self.ahead, self.fails) = (gate, size, ahead, fails)
    (self.code, self.subtitles) = (code, subtitles)
    content = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    chapters = [Chapter(span: TimeSpan(start: .zero, end: ClockTime(seconds: 4)), title: "The end")]
    renditions = [
      FakeStream.video("540", 960, 540, FakeStream.segments), FakeStream.video("270", 480, 270, FakeStream.segments),
      SegmentedMirror.Rendition(
        kind: .audio(channels: 2, sampleRate: 48000), name: "audio", codecs: "mp4a.40.2", averageBandwidth: 120_000,
        peakBandwidth: 130_000, segments: FakeStream.segments, language: "en", title: "Film \"one\""),
    ]
  }

  static let segments = [(0.0, 4.0), (4, 4.5), (8.5, 1.500000001)].map {
    SegmentedMirror.Segment(start: ClockTime(seconds: $0), duration: ClockTime(seconds: $1))
  }

  static func video(
    _ name: String, _ width: Int, _ height: Int, _ segments: [SegmentedMirror.Segment]
  ) -> SegmentedMirror.Rendition {
    SegmentedMirror.Rendition(
      kind: .video(width: width, height: height, frameRate: 30000.0 / 1001), name: name, codecs: "avc1.64001F",
      averageBandwidth: 1_000_000, peakBandwidth: 2_000_000, segments: segments)
  }

  func initialization(_ rendition: Int, _ cancellation: Cancellation) -> [UInt8] { [UInt8(rendition), 255] }

  func pieces(ofSegment number: Int, of rendition: Int) -> Int {
    FakeStream.segments.indices.contains(number) ? 4 : 0
  }

  func segment(
    _ number: Int, from piece: Int, of rendition: Int, _ cancellation: Cancellation,
    _ take: @escaping @Sendable ([UInt8]) -> Void
  ) throws {
    if ahead > 0 { take(Array(content[(piece * size / 4)..<ahead])) }
    try gate?.pass(cancellation)
    if fails { throw RetrogradeError(code, about: "a film", "can't be decoded") }
    take(content[max(ahead, piece * size / 4)...] + [UInt8(rendition), UInt8(number)])
  }

  func picture(at time: ClockTime, height: Int, isExact: Bool, _ cancellation: Cancellation) -> [UInt8] {
    [0xFF, 0xD8]
  }

  /// Returns valid points for the first part of the waveform, and invalid ones for the last part.
  func waveform(_ points: Range<Int>, of count: Int, _ cancellation: Cancellation) -> [Float] {
    points.upperBound < count ? [0, 0.5] : [2, .nan]
  }
}

/// A gate that blocks a job until the gate is opened or the job is cancelled. Counts the jobs that
/// entered, passed and were cancelled.
final class FakeGate: Sendable {
  struct Counts: Equatable {
    var entered = 0
    var passed = 0
    var cancelled = 0
  }

  private struct State {
    var counts = Counts()
    var isOpen = false
  }

  private let state = Mutex(State())
  private let change = NSCondition()
  private let free: Int

  /// Creates a closed gate.
  /// - Parameter free: number of jobs that may pass while the gate is closed.
  init(free: Int = 0) { self.free = free }

  var seen: Counts { state.withLock { $0.counts } }

  func open() { set { $0.isOpen = true } }

  func pass(_ cancellation: Cancellation) throws {
    let number = set { state in
      state.counts.entered += 1
      return state.counts.entered
    }
    // A cancellation wakes no waiting thread, so this loop checks every tenth of a second, like the
    // engine.
    change.withLock {
      while number > free, !state.withLock({ $0.isOpen }), !cancellation.isCancelled {
        change.wait(until: Date(timeIntervalSinceNow: 0.1))
      }
    }
    set { if cancellation.isCancelled { $0.counts.cancelled += 1 } else { $0.counts.passed += 1 } }
    try cancellation.check()
  }

  /// Waits until `isSo` returns true for the counts. Throws ``Late`` after 30 seconds.
  func wait(until isSo: @escaping @Sendable (Counts) -> Bool) async throws {
    try await onOwnThread("gate", Cancellation()) { [self] in
      try change.withLock {
        let limit = Date(timeIntervalSinceNow: 30)
        while !isSo(seen) {
          guard change.wait(until: limit) else { throw Late(seen: seen) }
        }
      }
    }
  }

  private func set<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    change.withLock {
      defer { change.broadcast() }
      return state.withLock { body(&$0) }
    }
  }

  struct Late: Error { let seen: Counts }
}

/// Thread-safe counter of calls.
final class Counted: Sendable {
  private let calls = Mutex(0)
  var count: Int { calls.withLock { $0 } }
  func add() { calls.withLock { $0 += 1 } }
}

/// A request handler with fake streams of its files.
struct FakeRequestHandler {
  let folder: TemporaryFolder
  let handler: RequestHandler
  let id: String

  init(
    _ settings: ServerSettings = ServerSettings(), names: [String] = ["a film.wav"],
    _ stream: FakeStream = FakeStream(),
    onCrash: @escaping @Sendable (RetrogradeError) -> Void = { _ in }, open: OpenStreams.OpenFunction? = nil
  ) throws {
    folder = try TemporaryFolder()
    for name in names { try FakeRequestHandler.wave.write(to: folder.url.appending(path: name)) }
    let path = folder.path(names[0])
    var settings = settings
    settings.resources.spoolDirectory = folder.url.path
    handler = try RequestHandler(
      settings, Catalog(names.count == 1 ? [path] : [folder.url.path]), onCrash: onCrash,
      open: open ?? { _, _, _ in stream })
    id = FileID.of(path)
  }

  /// Beginning of a file that the server recognizes as media.
  static var wave: Data {
    Data("RIFF".utf8) + [36, 0, 0, 0] + Data("WAVEfmt ".utf8) + [
      16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x80, 0x3E, 0, 0, 2, 0, 16, 0,
    ]
      + Data("data".utf8) + [0, 0, 0, 0]
  }

  func ask(
    _ path: String, method: Request.Method = .get, host: String = "127.0.0.1:80", _ fields: [String: String] = [:]
  ) async throws -> Answer {
    var request = Request(method: method, target: path, fields: [.host: host])
    for (name, value) in fields { request.fields[FieldName(name)] = value }
    return try await handler.answer(request)
  }

  /// Version in the addresses of a stream.
  var version: String {
    get async throws {
      let info =
        try JSONSerialization.jsonObject(with: Data(try await ask("/\(id)/usual/info.json").bytes)) as? [String: Any]
      return info?["version"] as? String ?? ""
    }
  }
}

extension Answer {
  /// All bytes of the answer's body; waits until they are available.
  var bytes: [UInt8] {
    get async throws {
      switch body {
      case .bytes(let bytes): Array(bytes[range ?? 0..<bytes.count])
      case .stored(let stored): try stored.read(range ?? 0..<stored.count)
      case .begun: try await whole().bytes
      }
    }
  }

  var text: String { get async throws { String(decoding: try await bytes, as: UTF8.self) } }

  subscript(name: String) -> String? { fields[FieldName(name)] }
}
