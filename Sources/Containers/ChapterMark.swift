package import MediaTime

/// A chapter, as a file states it.
package struct ChapterMark: Equatable, Sendable {
  package var start: ClockTime
  /// nil where the container does not say.
  package var end: ClockTime?
  package var title: String
  /// Chapters that are parts of this one.
  package var children: [ChapterMark]

  package init(
    start: ClockTime, end: ClockTime? = nil, title: String, children: [ChapterMark] = []
  ) {
    self.start = start
    self.end = end
    self.title = title
    self.children = children
  }
}
