package import Containers
package import GStreamer
import MediaTime

/// Text with the time span during which it is shown.
package struct Cue: Hashable, Sendable, Codable {
  package var span: TimeSpan
  /// The packet's bytes: text, or a line of an SSA script.
  package var bytes: [UInt8]

  package init(span: TimeSpan, bytes: [UInt8]) {
    self.span = span
    self.bytes = bytes
  }
}

/// Subtitle stream. Subtitles are small, so all cues stay in memory.
package struct SubtitleTrack: Sendable {
  /// Caps of the packets, such as `text/x-raw` or `application/x-ass`.
  package var caps: Caps
  package var tags: TagList?
  package var disposition: Disposition?
  /// Cues, sorted by start.
  package var cues: [Cue]

  package init(caps: Caps, tags: TagList?, disposition: Disposition? = nil, cues: [Cue]) {
    self.caps = caps
    self.tags = tags
    self.disposition = disposition
    self.cues = cues
  }

  /// True for plain text or text with simple markup, such as italics; false for a script.
  package var isText: Bool { caps.mediaType == "text/x-raw" }
  /// True for a SubStation Alpha script, old or new.
  package var isScript: Bool { ["application/x-ssa", "application/x-ass"].contains(caps.mediaType) }

  /// True if a stream of `caps` can be reversed: plain text and SubStation Alpha scripts, whose
  /// cues do not depend on other cues.
  package static func takes(_ caps: Caps) -> Bool {
    ["text/x-raw", "application/x-ssa", "application/x-ass"].contains(caps.mediaType)
  }

  /// Returns the cues in order of play. A leg is a part of the source that is played in one
  /// direction. Each leg adds the cues that overlap its span. A cue is limited to the span, and
  /// moved to the output time at which the leg plays the cue. Fades and moves of scripts are
  /// reversed with their cue.
  package func played(_ legs: [PlaybackLeg]) -> [Cue] {
    legs.flatMap { leg in
      let shown = cues.compactMap { cue -> Cue? in
        guard let part = cue.part(in: leg) else { return nil }
        return Cue(span: leg.place(part), bytes: isScript ? cue.script(part, in: leg) : cue.bytes)
      }
      return shown.sorted { ($0.span.start, $0.span.end) < ($1.span.start, $1.span.end) }
    }
  }
}

extension [SubtitleTrack] {
  /// Warning about subtitles without a duration, which are never shown; nil if there is none.
  package var neverShown: Warning? {
    let count = reduce(0) { sum, track in sum + track.cues.count { $0.span.start >= $0.span.end } }
    return count == 0
      ? nil
      : Warning(
        .detailLeftOut, "left out: \(counted(count, "subtitle")) without a duration", count: count)
  }
}

/// Chapter or marker: a named part of the presentation, which may contain nested parts.
package struct Chapter: Hashable, Sendable, Codable {
  package var span: TimeSpan
  package var title: String
  package var children: [Chapter]
  /// Region of the source that a marker names; empty if the marker is a point; nil for a chapter.
  /// The ``span`` of a marker lasts at least until the next marker.
  package var marker: TimeSpan?

  package init(span: TimeSpan, title: String, children: [Chapter] = [], marker: TimeSpan? = nil) {
    self.span = span
    self.title = title
    self.children = children
    self.marker = marker
  }

  /// Returns the chapters in order of play.
  package static func played(_ chapters: [Chapter], _ legs: [PlaybackLeg]) -> [Chapter] {
    legs.flatMap { leg in
      var played = chapters.compactMap { $0.placed(leg) }.sorted { $0.span.start < $1.span.start }
      // `behind`: start of the following chapter. `next`: start of the first chapter that starts
      // later than this chapter does.
      var behind: ClockTime?
      var next: ClockTime?
      for number in played.indices.reversed() {
        let start = played[number].span.start
        if let behind, start < behind { next = behind }
        behind = start
        guard let marker = played[number].marker, marker.duration == .zero else { continue }
        played[number].span.end = next ?? max(leg.end, start)
      }
      return played
    }
  }

  private func placed(_ leg: PlaybackLeg) -> Chapter? {
    let own = marker ?? span
    let part = TimeSpan(start: max(own.start, leg.span.start), end: min(own.end, leg.span.end))
    let isPoint = own.duration == .zero
    guard isPoint ? part.start == part.end : part.start < part.end else { return nil }
    let place = leg.place(part)
    return Chapter(
      span: place, title: title, children: Chapter.played(children, [leg]), marker: marker.map { _ in place })
  }
}
