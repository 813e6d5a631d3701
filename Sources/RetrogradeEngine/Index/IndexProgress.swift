package import MediaTime

/// How far the pass over a source is.
package struct IndexProgress: Sendable {
  /// In stream time.
  package var position: ClockTime
  /// End of the source by its container, or by GStreamer's guess; nil if neither tells.
  package var end: ClockTime?

  package init(position: ClockTime, end: ClockTime?) { (self.position, self.end) = (position, end) }
}
