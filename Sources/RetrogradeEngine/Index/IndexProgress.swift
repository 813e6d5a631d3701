package import MediaTime

/// Progress of an indexing pass.
package struct IndexProgress: Sendable {
  /// Position in stream time.
  package var position: ClockTime
  /// End of the source by its container or GStreamer's estimate; nil if neither is known.
  package var end: ClockTime?

  package init(position: ClockTime, end: ClockTime?) { (self.position, self.end) = (position, end) }
}
