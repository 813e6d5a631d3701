package import MediaTime

/// Bytes of a file that a demuxer of GStreamer has to read as others, to give all that is in it.
package protocol FileCorrection: Sendable {
  /// The demuxer that needs it, by its element's name.
  var demuxer: String { get }
  /// True if the demuxer needs it also while the streams of the file are looked for.
  var isForProbing: Bool { get }
  /// When streams really end, in stream time, that have to be said to end later; by the names of the demuxer's pads.
  var ends: [String: ClockTime] { get }
  /// True if anything changes at `range` of the file.
  func changes(_ range: Range<Int>) -> Bool
  /// Changes `bytes`, which were read at `offset` of the file.
  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int)
}

extension FileCorrection {
  package var isForProbing: Bool { false }
}
