package import MediaTime
package import Retrograde
package import RetrogradeEngine

/// Outputs a source, in an order of play, as segments that are made on request. Every method
/// blocks.
package protocol MirrorStream: Sendable {
  var renditions: [SegmentedMirror.Rendition] { get }
  var duration: ClockTime { get }
  var frameStarts: [ClockTime] { get }
  var frameTimes: [ClockTime] { get }
  var chapters: [Chapter] { get }
  var subtitles: [SegmentedMirror.Subtitles] { get }
  var warnings: [Warning] { get }
  /// True if the stream can make no more segments and must be reopened.
  var hasEnded: Bool { get }

  func initialization(_ rendition: Int, _ cancellation: Cancellation) throws -> [UInt8]
  func pieces(ofSegment number: Int, of rendition: Int) -> Int
  func segment(
    _ number: Int, from piece: Int, of rendition: Int, _ cancellation: Cancellation,
    _ take: @escaping @Sendable ([UInt8]) -> Void) throws
  func picture(at time: ClockTime, height: Int, isExact: Bool, _ cancellation: Cancellation) throws -> [UInt8]
  func waveform(_ points: Range<Int>, of count: Int, _ cancellation: Cancellation) throws -> [Float]
}

extension MirrorStream {
  package var hasEnded: Bool { false }
}

extension ChildMirror: MirrorStream {}
