package import MediaTime

/// Replacement of bytes that a GStreamer demuxer must see differently to output everything in the
/// file.
package protocol FileCorrection: Sendable {
  /// Element name of the demuxer that needs it.
  var demuxer: String { get }
  /// True if the demuxer also needs it during stream discovery.
  var isForProbing: Bool { get }
  /// Actual ends in stream time of streams that the correction declares longer, by demuxer pad
  /// name.
  var ends: [String: ClockTime] { get }
  /// True if any byte in `range` of the file changes.
  func changes(_ range: Range<Int>) -> Bool
  /// Changes `bytes`, which were read at `offset` of the file.
  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int)
}

extension FileCorrection {
  package var isForProbing: Bool { false }
}
