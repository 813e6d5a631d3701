import Containers
import GStreamer
import RetrogradeEngine

extension Warning {
  static let noTitles = Warning(.detailLeftOut, "left out: the names of the tracks, which the output can't hold")
  static let noChapters = Warning(.detailLeftOut, "left out: the chapters, which this container can't hold")

  /// Warnings about details of `chapters` that a container's list of chapters can't hold.
  /// - Parameter end: end of the output; nil if it is unknown, or if `list` holds the end of the last
  ///   chapter.
  static func notHeld(_ chapters: [Chapter], by list: ChapterList, until end: ClockTime?) -> [Warning] {
    let inner = chapters.reduce(0) { $0 + $1.inner }
    let missing = chapters.dropFirst(list.most)
    let long = chapters.count { $0.title.utf8.count > list.longestTitle }
    var found: [Warning] = []
    if inner > 0 {
      let what = inner == 1 ? "a chapter inside another chapter" : "\(inner) chapters inside other chapters"
      found.append(Warning(.detailLeftOut, "left out: \(what), which this container can't hold", count: inner))
    }
    let next = chapters.dropFirst().map(\.span.start) + [end].compactMap { $0 }
    let ended = zip(chapters, next).filter { $0.marker == nil && $0.endsBefore($1) }.map(\.0)
    if let first = ended.first {
      let what = ended.count == 1 ? "the end of a chapter (" : "the ends of \(ended.count) chapters (the first "
      found.append(
        Warning(
          .detailLeftOut,
          "left out: \(what)at \(first.span.end) of the output), since in this container, each chapter lasts until "
            + "the next one begins",
          count: ended.count))
    }
    if let first = missing.first {
      found.append(
        Warning(
          .detailLeftOut,
          "left out: \(missing.count) of \(chapters.count) chapters, from \(first.span.start) of the output on: "
            + "this container can hold only \(list.most)",
          count: missing.count))
    }
    if long > 0 {
      let titles = "the title\(long == 1 ? " of 1 chapter" : "s of \(long) chapters"), "
      found.append(
        Warning(
          .detailLeftOut,
          list.longestTitle == 0
            ? "left out: \(titles)which this container can't hold"
            : "cut: \(titles)since this container can hold only \(list.longestTitle) bytes per title",
          count: long))
    }
    return found
  }
}

/// Limits of a container's list of chapters, in which each chapter lasts until the next one begins.
struct ChapterList {
  /// Largest number of chapters.
  var most: Int
  /// Largest number of bytes in a title; 0: the list has no titles.
  var longestTitle: Int

  static let mp4 = ChapterList(most: MP4Header.mostChapters, longestTitle: MP4Header.longestTitle)
  static let cueSheet = ChapterList(most: TableOfContents.mostCues, longestTitle: 0)
}

extension Chapter {
  /// True if the chapter ends more than 1 ms before `next`. A smaller gap may come from rounding.
  fileprivate func endsBefore(_ next: ClockTime) -> Bool { next - span.end > .milliseconds(1) }

  /// Number of chapters inside this chapter, at all levels.
  fileprivate var inner: Int { children.reduce(0) { $0 + 1 + $1.inner } }
}
