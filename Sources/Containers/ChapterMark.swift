package import MediaTime

/// Chapter as declared by the file.
package struct ChapterMark: Equatable, Sendable {
  package var start: ClockTime
  /// End of the chapter; nil if the container declares none.
  package var end: ClockTime?
  package var title: String
  /// Nested chapters.
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
