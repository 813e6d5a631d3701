package import MediaTime

/// How far the pass over a source is.
package struct IndexProgress: Sendable {
  /// In stream time.
  package var position: ClockTime
  /// Where the container, or GStreamer's guess, says that the source ends; nil where neither does.
  package var end: ClockTime?

  package init(position: ClockTime, end: ClockTime?) { (self.position, self.end) = (position, end) }
}
