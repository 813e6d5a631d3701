import Containers
import GStreamer
import MediaTime

extension Topology {
  /// Returns the chapters up to `end`. A chapter without an end lasts until the next chapter, and
  /// the last chapter until `end`.
  func chapters(until end: ClockTime) -> [Chapter] {
    func chapters(_ entries: [ChapterMark], until end: ClockTime) -> [Chapter] {
      entries.enumerated().compactMap { index, entry in
        let next = index + 1 < entries.count ? entries[index + 1].start : end
        let span = TimeSpan(start: entry.start, end: min(entry.end ?? next, end))
        guard span.start < span.end else { return nil }
        return Chapter(span: span, title: entry.title, children: chapters(entry.children, until: span.end))
      }
    }
    if let wave = facts.wave, let rate = wave.rate, !wave.chunks.markers.isEmpty {
      return markers(wave.chunks.markers, rate: rate, until: end)
    }
    return chapters(contents?.entries.map(ChapterMark.init) ?? facts.chapters, until: end)
  }

  /// Returns the number of chapters that begin at `end` or later.
  func chapterCount(from end: ClockTime) -> Int {
    func all(_ entries: [ChapterMark]) -> [ChapterMark] { entries.flatMap { [$0] + all($0.children) } }
    return all(contents?.entries.map(ChapterMark.init) ?? facts.chapters).count { $0.start >= end }
  }

  /// Returns WAVE markers as chapters. Each chapter lasts at least until the next marker.
  private func markers(_ markers: [WAVEChunks.Marker], rate: Int, until end: ClockTime) -> [Chapter] {
    let sorted = markers.sorted { $0.frames.lowerBound < $1.frames.lowerBound }.map { marker in
      let place = TimeSpan(
        start: ClockTime(sampleIndex: marker.frames.lowerBound, rate: rate),
        end: ClockTime(sampleIndex: marker.frames.upperBound, rate: rate))
      return Chapter(span: place, title: marker.title, marker: place)
    }.filter { $0.span.start <= end }
    return sorted.enumerated().map { number, chapter in
      var chapter = chapter
      let next = number + 1 < sorted.count ? sorted[number + 1].span.start : end
      chapter.span.end = max(chapter.span.end, next)
      return chapter
    }
  }
}

extension ChapterMark {
  fileprivate init(_ entry: TableOfContents.Entry) {
    self.init(
      start: entry.start, end: entry.end, title: entry.title ?? "",
      children: entry.children.map(ChapterMark.init))
  }
}
