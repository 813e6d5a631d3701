import FoundationEssentials
package import MediaTime
package import RetrogradeEngine

/// ``SegmentedMirror`` in a child process, so that a crash while reading one file does not affect
/// other files.
///
/// Methods can be called in any order, and by several threads at once. Each call blocks until its
/// result is complete.
package final class ChildMirror: Sendable {
  package let renditions: [SegmentedMirror.Rendition]
  package let duration: ClockTime
  package let frameStarts: [ClockTime]
  package let frameTimes: [ClockTime]
  package let chapters: [Chapter]
  package let subtitles: [SegmentedMirror.Subtitles]
  package let warnings: [Warning]
  private let initializations: [[UInt8]]
  private let pieces: [[Int]]
  private let connection: SegmentConnection

  /// Opens and indexes a source.
  /// - Throws: `CancellationError` or ``RetrogradeError``. If the process ended, the code of the
  ///   ``RetrogradeError`` is `crashed`, or `inputOutput` if the process lacked memory or threads.
  package init(
    _ path: String, _ settings: SegmentedMirror.Settings, _ runner: ChildRunner, _ cancellation: Cancellation,
    onLine: @escaping @Sendable (String) -> Void
  ) throws {
    let connection = SegmentConnection(path)
    let answer = connection.expect(0, cancellation)
    try connection.start(ChildWatch(try runner.process(.segments(path: path, settings)), runner.limits, onLine))
    do {
      let parts = try answer.all()
      guard parts.count == 3 else {
        throw RetrogradeError(
          .internalFailure, about: path, "the process that reads the file sent an incomplete answer")
      }
      let times = parts[..<2].map { bytes in
        bytes.withUnsafeBytes { raw in
          stride(from: 0, to: raw.count, by: 8).map {
            ClockTime(nanoseconds: raw.loadUnaligned(fromByteOffset: $0, as: Int64.self))
          }
        }
      }
      (frameStarts, frameTimes) = (times[0], times[1])
      let opened = try JSONDecoder().decode(SegmentsOpened.self, from: Data(parts[2]))
      (renditions, initializations, pieces) = (opened.renditions, opened.initializations, opened.pieces)
      (duration, chapters, subtitles) = (opened.duration, opened.chapters, opened.subtitles)
      warnings = opened.warnings
    } catch {
      connection.close()
      throw error
    }
    self.connection = connection
  }

  deinit { connection.close() }

  /// True if the child process has ended.
  package var hasEnded: Bool { connection.hasEnded }

  package func initialization(_ rendition: Int, _ cancellation: Cancellation) throws -> [UInt8] {
    guard initializations.indices.contains(rendition) else {
      throw RetrogradeError(.usage, "there is no rendition \(rendition)")
    }
    return initializations[rendition]
  }

  package func pieces(ofSegment number: Int, of rendition: Int) -> Int {
    guard pieces.indices.contains(rendition), pieces[rendition].indices.contains(number) else { return 0 }
    return pieces[rendition][number]
  }

  package func segment(
    _ number: Int, from piece: Int, of rendition: Int, _ cancellation: Cancellation,
    _ take: @escaping @Sendable ([UInt8]) -> Void
  ) throws {
    try connection.ask(.segment(number, piece: piece, rendition: rendition), cancellation).each(take)
  }

  package func picture(
    at time: ClockTime, height: Int, isExact: Bool, _ cancellation: Cancellation
  ) throws -> [UInt8] {
    Array(try connection.ask(.picture(time, height: height, isExact: isExact), cancellation).all().joined())
  }

  package func waveform(_ points: Range<Int>, of count: Int, _ cancellation: Cancellation) throws -> [Float] {
    let bytes = Array(try connection.ask(.waveform(points, count: count), cancellation).all().joined())
    return bytes.withUnsafeBytes { raw in
      stride(from: 0, to: raw.count - 3, by: 4).map { raw.loadUnaligned(fromByteOffset: $0, as: Float.self) }
    }
  }
}
