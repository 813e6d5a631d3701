import Containers
import RetrogradeEngine

extension Warning {
  static let noTitles = Warning(.detailLeftOut, "left out: the names of the tracks, which the output can't hold")
  static let noChapters = Warning(.detailLeftOut, "left out: the chapters, which this container can't hold")

  /// What the list that an MP4 has of `chapters` has no room for.
  static func notInMP4(_ chapters: [Chapter]) -> [Warning] {
    let inner = chapters.reduce(0) { $0 + $1.inner }
    let missing = chapters.dropFirst(MP4Header.mostChapters)
    let long = chapters.count { $0.title.utf8.count > MP4Header.longestTitle }
    var found: [Warning] = []
    if inner > 0 {
      let what = inner == 1 ? "a chapter that is part of another" : "\(inner) chapters that are parts of others"
      found.append(Warning(.detailLeftOut, "left out: \(what), which this container can't hold", count: inner))
    }
    if let first = missing.first {
      found.append(
        Warning(
          .detailLeftOut,
          "left out: \(missing.count) of \(chapters.count) chapters, from \(first.span.start) of the output on: this container has room for \(MP4Header.mostChapters)",
          count: missing.count))
    }
    if long > 0 {
      found.append(
        Warning(
          .detailLeftOut,
          "cut: the title\(long == 1 ? " of 1 chapter" : "s of \(long) chapters"), of which this container holds \(MP4Header.longestTitle) bytes",
          count: long))
    }
    return found
  }
}

extension Chapter {
  /// How many chapters are parts of it.
  fileprivate var inner: Int { children.reduce(0) { $0 + 1 + $1.inner } }
}
