package import MediaTime

/// A chapter, as containers have it that do not nest them.
package struct ChapterMark: Equatable, Sendable {
  package var start: ClockTime
  /// nil where the container does not say.
  package var end: ClockTime?
  package var title: String

  package init(start: ClockTime, end: ClockTime? = nil, title: String) {
    self.start = start
    self.end = end
    self.title = title
  }
}
