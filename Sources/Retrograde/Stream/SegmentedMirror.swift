package import MediaTime
package import RetrogradeEngine

/// A source in its order of play, as segments of fragmented MP4 (CMAF), each of which is made when it is asked for.
///
/// What is made is what ``Reverser`` makes: the same frames at the same times, the same samples. Everything may be asked for in any order and
/// from several threads at once; each call blocks until it is done, and is to be made on a thread that may.
package final class SegmentedMirror: Sendable {
  /// In the order of play.
  package let renditions: [Rendition]
  /// How long the output is.
  package let duration: ClockTime
  /// When each frame of the output is shown, ascending; none: there is no video.
  package let frameStarts: [ClockTime]
  package let chapters: [Chapter]
  package let subtitles: [Subtitles]
  /// What the source promises and the output lacks, as far as its index tells.
  package let warnings: [Warning]

  /// Opens and indexes a source.
  ///
  /// - Parameters:
  ///   - path: of a file.
  ///   - cancellation: ends it.
  ///   - progress: told how far the index is.
  /// - Throws: ``RetrogradeError``, or `CancellationError`.
  package init(
    _ path: String, _ settings: Settings = Settings(), _ cancellation: Cancellation,
    progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) throws {
    throw RetrogradeError(.internalFailure, about: path, "is not made into segments yet")
  }

  /// The initialization segment of a rendition: `ftyp` and `moov`.
  /// - Throws: ``RetrogradeError``, of code `usage` where there is no such rendition; or `CancellationError`.
  package func initialization(_ rendition: Int, _ cancellation: Cancellation) throws -> [UInt8] { [] }

  /// Segment `number` of a rendition, counted from 0: `moof` and `mdat`.
  /// - Throws: ``RetrogradeError``, of code `usage` where there is no such segment; or `CancellationError`.
  package func segment(_ number: Int, of rendition: Int, _ cancellation: Cancellation) throws -> [UInt8] { [] }

  /// The picture on show at a time of the output, as JPEG.
  ///
  /// - Parameters:
  ///   - time: what lies before the start or past the end is taken for the first frame, and the last.
  ///   - height: in pixels, 16 to 2160; the width follows.
  ///   - isExact: whether it has to be that frame: else it may be the keyframe nearest to it, which is found faster.
  /// - Throws: ``RetrogradeError``, of code `usage` where there is no video; or `CancellationError`.
  package func picture(
    at time: ClockTime, height: Int, isExact: Bool = true, _ cancellation: Cancellation
  ) throws -> [UInt8] { [] }

  /// How loud the audio is along the output: the greatest magnitude of any sample of any channel, 0 to 1, in each of so many equal parts
  /// of it; empty where there is no audio.
  ///
  /// - Parameter points: 1 to 100000.
  package func waveform(points: Int, _ cancellation: Cancellation) throws -> [Float] { [] }
}
