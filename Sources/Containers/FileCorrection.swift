package import MediaTime

/// Replacement of bytes in a file before a GStreamer demuxer or parser reads the bytes. It works
/// around a bug or limit of that element.
package protocol FileCorrection: Sendable {
  /// GStreamer element name of the demuxer or parser that needs the correction.
  var demuxer: String { get }
  /// True if the demuxer needs the correction during stream discovery, too.
  var isForProbing: Bool { get }
  /// Actual ends of streams in stream time, by demuxer pad name. Contains only the streams whose
  /// declared duration the correction extends.
  var ends: [String: ClockTime] { get }
  /// True if the correction changes any byte in `range` of the file.
  func changes(_ range: Range<Int>) -> Bool
  /// Changes `bytes`, which were read at `offset` of the file.
  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int)
}

extension FileCorrection {
  package var isForProbing: Bool { false }
}
