package import MediaTime

/// Progress of an indexing pass.
package struct IndexProgress: Sendable {
  /// Position in stream time.
  package var position: ClockTime
  /// End of the source according to the container, or GStreamer's estimate; nil if unknown.
  package var end: ClockTime?

  package init(position: ClockTime, end: ClockTime?) { (self.position, self.end) = (position, end) }
}
