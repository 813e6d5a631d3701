import Containers
package import MediaTime
import Synchronization

/// Part of a source that can be played backwards before the whole source is indexed.
package struct SourceRange: Sendable {
  /// Source of this part, with the playback legs of the whole source.
  package let source: PlayableSource
  /// Covered part of the source, in stream time.
  package let range: TimeSpan
  /// Time span of this part in the output.
  package let place: TimeSpan

  /// Returns the time span of an audio stream in the output; empty if the position of the stream is
  /// not exact to the sample.
  package func place(of track: AudioTrack) -> TimeSpan {
    track.isPlaced ? place : TimeSpan(start: place.start, end: place.start)
  }
}

/// Long source, any part of which can be played backwards before the whole source is indexed.
/// The end is played first, then the target of each seek.
package final class SourceRanges: Sendable {
  /// Last part of the source.
  package let tail: SourceRange
  private let opened: OpenedSource
  private let settings: PlaybackSettings
  /// Span of the source's presentation.
  private let whole: TimeSpan
  private let state: Mutex<State>

  private struct State {
    /// Indexer with the tables of the whole file; nil as long as excerpts of the tables have been
    /// enough.
    var indexer: RangeIndexer?
    var last: SourceRange
  }

  /// Length of a part. If the source is not longer than three parts, a full index is as fast.
  private static let length = ClockTime(seconds: 8)

  /// - Returns: nil if the whole source has to be indexed first.
  /// - Throws: ``CancellationError``.
  package init?(_ opened: OpenedSource, _ settings: PlaybackSettings) throws {
    guard let declared = SourceRanges.declaredEnd(opened.stored.facts, settings) else { return nil }
    var indexer: RangeIndexer?
    guard
      let tail = try SourceRanges.stretch(
        opened, settings, &indexer, from: declared - SourceRanges.length, to: nil, of: nil)
    else { return nil }
    self.tail = tail
    whole = tail.source.legs.presentation.span
    self.opened = opened
    self.settings = settings
    state = Mutex(State(indexer: indexer, last: tail))
  }

  /// Returns the part that plays from `time` on in the output.
  /// - Returns: nil if the part needs an index of the whole source.
  /// - Throws: ``CancellationError``.
  package func stretch(at time: ClockTime) throws -> SourceRange? {
    let end = whole.end - time
    guard whole.start < end, end <= whole.end else { return nil }
    return try state.withLock { state in
      if let known = [tail, state.last].first(where: { $0.place.start <= time && time < $0.place.end }) {
        return known
      }
      let start = max(end - SourceRanges.length, whole.start)
      let found = try opened.priorityGate.runUrgent {
        try SourceRanges.stretch(opened, settings, &state.indexer, from: start, to: end, of: whole)
      }
      state.last = found ?? state.last
      return found
    }
  }

  /// Returns the range of the source that an excerpt of the file's tables must list, so that the
  /// part from `start` to `end` can be indexed.
  private static func reach(_ start: ClockTime, _ end: ClockTime?) -> TimeSpan {
    TimeSpan(
      start: start - RangeIndexer.reach.before,
      end: end.map { $0 + RangeIndexer.reach.behind } ?? ClockTime(nanoseconds: .max))
  }

  /// Returns the range of the source that an excerpt of the file's tables must list, so that the
  /// last part can be indexed; nil if the whole source has to be indexed first.
  static func spanOfLastRange(of facts: ContainerFacts, _ settings: PlaybackSettings) -> TimeSpan? {
    declaredEnd(facts, settings).map { reach($0 - length, nil) }
  }

  /// Returns the declared end of a source; nil if the container declares no end, if the source is
  /// too short, or if the order of play is not a plain reversal of the whole source.
  private static func declaredEnd(_ facts: ContainerFacts, _ settings: PlaybackSettings) -> ClockTime? {
    let playback = settings.playback
    guard playback.score == nil, playback.loop == .reverse, settings.count == 1, playback.timing == .mirror,
      playback.start == nil, playback.end == nil,
      let declared = facts.report?.presentationEnd ?? facts.report?.fragmentsEnd, declared > length * 3
    else { return nil }
    return declared
  }

  /// Returns the part from `start` to `end`; nil if the whole source has to be indexed first.
  /// - Parameter indexer: indexer with the tables of the whole file. If `indexer` is nil, and an
  ///   excerpt of the tables is not enough, this function creates the indexer.
  private static func stretch(
    _ opened: OpenedSource, _ settings: PlaybackSettings, _ indexer: inout RangeIndexer?, from start: ClockTime,
    to end: ClockTime?, of whole: TimeSpan?
  ) throws -> SourceRange? {
    if indexer == nil, let (excerpt, hole) = opened.excerpt(of: reach(start, end)) {
      let found = try unlessInexact(opened) {
        try RangeIndexer(excerpt.indexer(settings), hole: hole, placesAudio: false).flatMap {
          try SourceRange(opened, settings, $0, from: start, to: end, of: whole)
        }
      }
      if let found { return found }
    }
    var known = indexer
    defer { indexer = known }
    return try unlessInexact(opened) {
      known = try known ?? RangeIndexer(opened.indexer(settings), placesAudio: false)
      return try known.flatMap { try SourceRange(opened, settings, $0, from: start, to: end, of: whole) }
    }
  }

  /// Returns the result of `body`; nil if the part may be inexact or can't be read, because the
  /// whole source is then indexed.
  private static func unlessInexact<Value>(_ opened: OpenedSource, _ body: () throws -> Value?) throws -> Value? {
    do {
      return try body()
    } catch let error as InexactRange {
      Log.index.info("\(opened.name): all of it is indexed: \(error.reason)")
      return nil
    } catch let error as RetrogradeError {
      // The full pass reports the error, and finds the data that is still playable.
      Log.index.info("\(opened.name): all of it is indexed: \(error.message)")
      return nil
    }
  }
}

extension SourceRange {
  /// - Parameters:
  ///   - beginning: stream time at which indexing starts. The part starts at the first keyframe
  ///     from then on, or at `beginning` if no keyframe follows before `end`.
  ///   - end: end of the part; nil for the end of the source.
  ///   - whole: span of the whole presentation; nil if the presentation ends with this part.
  fileprivate init?(
    _ opened: OpenedSource, _ settings: PlaybackSettings, _ stretches: RangeIndexer, from beginning: ClockTime,
    to end: ClockTime?, of whole: TimeSpan?
  ) throws {
    // Open the decoder on another thread, because the demuxer's seek may take as long as all other
    // work here.
    let opening = try stretches.recipe.map { recipe in
      if recipe.largestPacket == nil { try Planner.refuseHugeFrames(of: recipe.packetCaps, settings.resources) }
      return try Worker("open decoder") {
        let decoder = try VideoDecoder(recipe, FormatChanges(), settings.cancellation)
        decoder.approach(beginning)
        return decoder
      }
    }
    defer { _ = try? opening?.join() }
    let index = try stretches.index(from: beginning, to: end)
    // Audio without an exact position must not determine the end of the source.
    guard
      index.audio.allSatisfy({ track in
        track.isPlaced
          || index.video?.duration != nil && track.span.end + AudioLayout.tolerance <= index.presentationEnd
      })
    else { return nil }
    let whole = whole ?? TimeSpan(start: index.presentationStart, end: index.presentationEnd)
    let end = end ?? whole.end
    // Start at a keyframe, so that no group of pictures is decoded twice.
    let keyframe = index.video.flatMap { video in
      video.starts.flatMap { starts in video.keyframes.map { starts[$0] }.first { $0 >= beginning } }
    }
    let start = keyframe.flatMap { $0 < end ? $0 : nil } ?? beginning
    guard whole.start <= start, start < end else { return nil }
    let range = TimeSpan(start: start, end: end)
    // The output's pads are created for the streams at the end of the source, so each part must
    // contain all of these streams.
    guard index.audio.count == stretches.trackCount,
      index.audio.allSatisfy({ !$0.frames(during: range).isEmpty }),
      index.video.map({ $0.starts?.contains { range.start <= $0 && $0 < range.end } ?? false }) ?? true
    else { return nil }
    let isAsBegun = index.recipe.map { stretches.recipe?.isSame(as: $0) ?? false } ?? false
    let parts = try SourceParts(index, settings, range, isAsBegun ? try? opening?.join() : nil)
    guard parts.isExact else { return nil }
    source = try PlayableSource(
      opened.name, index, parts, settings.playback, count: settings.count, for: settings.output, stored: opened.stored,
      whole: whole)
    self.range = range
    place = TimeSpan(start: whole.end - end, end: whole.end - start)
  }
}
