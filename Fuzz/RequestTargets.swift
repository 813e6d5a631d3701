import Dispatch
import Glibc
import MediaTime
@testable import Retrograde
import RetrogradeEngine
@testable import RetrogradeServer
import Soup
import Synchronization

/// HTTP requests to `retrograde serve`.
enum RequestTargets {
  /// Answers a request of five lines: request target, host, range, known entity tag, and
  /// authorization. In the request target, ID and VERSION stand for the identifier and version of
  /// the file.
  static func answer(_ bytes: [UInt8]) {
    var lines = bytes.split(separator: 10, maxSplits: 4, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    lines += [String](repeating: "", count: 5 - lines.count)
    lines[0] = lines[0].replacing("ID", with: FileID.of(path)).replacing("VERSION", with: version)
    // Skip pictures and downloads: other fuzz targets cover the reading of files.
    switch RequestPath(lines[0]).flatMap(Route.init) {
    case .picture?, .stream(_, _, .download)?: return
    default: break
    }
    var request = Request(target: lines[0], fields: [.host: lines[1]])
    for (name, value) in zip([FieldName.range, .ifNoneMatch, .authorization], lines[2...]) where !value.isEmpty {
      request.fields[name] = value
    }
    for desk in desks { check(desk, request) }
  }

  private static func check(_ desk: RequestHandler, _ request: Request) {
    wait {
      guard let answer = try? await desk.answer(request).whole() else { preconditionFailure("no answer") }
      precondition(
        [200, 206, 302, 304, 400, 401, 404, 415, 416, 421, 422].contains(answer.status), "status \(answer.status)")
      if let place = answer.fields[.location] { precondition(place.hasPrefix("/") && !place.hasPrefix("//")) }
      if let range = answer.range, let count = answer.body.count { precondition(range.upperBound <= count) }
    }
  }

  private static func wait(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await body()
      done.signal()
    }
    done.wait()
  }

  private static let path = "/dev/shm/retrograde-fuzz.wav"

  /// Version of the file in the addresses of its outputs.
  private static let version: String = {
    let found = Mutex("")
    wait {
      let request = Request(
        target: "/\(FileID.of(path))/usual/info.json", fields: [.host: "localhost"])
      guard case .bytes(let bytes)? = try? await desks[0].answer(request).body else { return }
      let text = String(decoding: bytes, as: UTF8.self)
      found.withLock { $0 = text.split(separator: "\"version\":\"").last?.prefix { $0 != "\"" }.description ?? "" }
    }
    return found.withLock { $0 }
  }()

  /// Two handlers that are never shut down: the first answers every request from this computer, the
  /// second requires a token.
  private static let desks: [RequestHandler] = ["127.0.0.1", "0.0.0.0"].map { host in
    do {
      try wave.withUnsafeBytes { bytes in
        guard let file = fopen(path, "w") else { throw RetrogradeError(.inputOutput, "no file") }
        fwrite(bytes.baseAddress, 1, bytes.count, file)
        fclose(file)
      }
      let settings = ServerSettings(host: host, token: host == "0.0.0.0" ? "s3cret&more" : nil)
      return try RequestHandler(settings, Catalog([path])) { _, _, _ in SilentStream() }
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// Smallest WAVE file that is recognised as media.
  private static let wave: [UInt8] =
    Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8) + [
      16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0, 128, 62, 0, 0,
    ]
    + [2, 0, 16, 0] + Array("data".utf8) + [0, 0, 0, 0]
}

/// Stream whose segments are all available at once.
private struct SilentStream: MirrorStream {
  let renditions = [
    SegmentedMirror.Rendition(
      kind: .video(width: 64, height: 64, frameRate: 1), name: "64", codecs: "avc1.64001F", averageBandwidth: 1,
      peakBandwidth: 1,
      segments: (0..<3).map { .init(start: ClockTime(seconds: Double($0)), duration: ClockTime(seconds: 1)) })
  ]
  let duration = ClockTime(seconds: 3)
  let frameStarts = [0.0, 1, 2].map { ClockTime(seconds: $0) }
  var frameTimes: [ClockTime] { frameStarts }
  let chapters: [Chapter] = []
  let subtitles = [SegmentedMirror.Subtitles(language: "en", title: "a \"title\"", text: "WEBVTT\n")]
  let warnings: [Warning] = []

  func initialization(_ rendition: Int, _ cancellation: Cancellation) -> [UInt8] { [1] }
  func pieces(ofSegment number: Int, of rendition: Int) -> Int {
    renditions[0].segments.indices.contains(number) ? 4 : 0
  }
  func segment(
    _ number: Int, from piece: Int, of rendition: Int, _ cancellation: Cancellation,
    _ take: @escaping @Sendable ([UInt8]) -> Void
  ) {
    precondition((0..<3).contains(number) && (0..<4).contains(piece) && rendition == 0)
    take([UInt8](repeating: 0, count: 100))
  }
  func picture(at time: ClockTime, height: Int, isExact: Bool, _ cancellation: Cancellation) -> [UInt8] {
    precondition(time >= .zero && time < duration)
    return [0xFF, 0xD8]
  }
  func waveform(_ points: Range<Int>, of count: Int, _ cancellation: Cancellation) -> [Float] {
    points.map { Float($0 % 2) }
  }
}
