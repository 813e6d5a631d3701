import Containers
package import MediaTime
import Synchronization

/// A stretch of a source that can be played backwards before all of it has been indexed.
package struct SourceStretch: Sendable {
  /// Its legs are those of all of the source.
  package let source: PlayableSource
  /// Part of the source that it covers, in stream time.
  package let range: TimeSpan
  /// Part of the output in which that is played.
  package let place: TimeSpan

  /// Part of the output in which an audio stream of it is played: empty, if the place of its samples is not
  /// known to the sample.
  package func place(of track: AudioTrack) -> TimeSpan {
    track.isPlaced ? place : TimeSpan(start: place.start, end: place.start)
  }
}

/// A long source, any stretch of which can be played backwards before all of it has been indexed: its end
/// first, and stretches that are sought.
package final class SourceStretches: Sendable {
  /// The end of the source.
  package let tail: SourceStretch
  private let opened: OpenedSource
  private let settings: PlaybackSettings
  /// Span of the source's presentation.
  private let whole: TimeSpan
  private let state: Mutex<State>

  private struct State {
    /// Indexer of all of the source; nil until it is needed.
    var indexer: StretchIndexer?
    var last: SourceStretch
  }

  /// Length of a stretch. Below three times this, a full index is as fast.
  private static let length = ClockTime(seconds: 8)

  /// - Returns: nil where all of the source has to be indexed first.
  /// - Throws: ``CancellationError``.
  package init?(_ opened: OpenedSource, _ settings: PlaybackSettings) throws {
    guard let declared = SourceStretches.declaredEnd(opened.stored.facts, settings) else { return nil }
    var indexer: StretchIndexer?
    guard
      let tail = try SourceStretches.stretch(
        opened, settings, &indexer, from: declared - SourceStretches.length, to: nil, of: nil)
    else { return nil }
    self.tail = tail
    whole = tail.source.legs.presentation.span
    self.opened = opened
    self.settings = settings
    state = Mutex(State(indexer: indexer, last: tail))
  }

  /// The stretch that is played at `time`, in the output, and after it.
  /// - Returns: nil where all of the source has to be indexed for it.
  /// - Throws: ``CancellationError``.
  package func stretch(at time: ClockTime) throws -> SourceStretch? {
    let end = whole.end - time
    guard whole.start < end, end <= whole.end else { return nil }
    return try state.withLock { state in
      if let known = [tail, state.last].first(where: { $0.place.start <= time && time < $0.place.end }) {
        return known
      }
      let start = max(end - SourceStretches.length, whole.start)
      let found = try opened.rightOfWay.take {
        try SourceStretches.stretch(opened, settings, &state.indexer, from: start, to: end, of: whole)
      }
      state.last = found ?? state.last
      return found
    }
  }

  /// Part of a source that has to be known to index such a stretch.
  private static func reach(_ start: ClockTime, _ end: ClockTime?) -> TimeSpan {
    TimeSpan(
      start: start - StretchIndexer.reach.before,
      end: end.map { $0 + StretchIndexer.reach.behind } ?? ClockTime(nanoseconds: .max))
  }

  /// The same of its end; nil where all of the source has to be indexed first.
  static func lastReach(of facts: ContainerFacts, _ settings: PlaybackSettings) -> TimeSpan? {
    declaredEnd(facts, settings).map { reach($0 - length, nil) }
  }

  /// End that a source declares; nil where that is too soon, or it is not played backwards as a whole.
  private static func declaredEnd(_ facts: ContainerFacts, _ settings: PlaybackSettings) -> ClockTime? {
    let playback = settings.playback
    guard playback.score == nil, playback.loop == .reverse, settings.count == 1, playback.timing == .mirror,
      playback.start == nil, playback.end == nil,
      let declared = facts.report?.presentationEnd ?? facts.report?.fragmentsEnd, declared > length * 3
    else { return nil }
    return declared
  }

  /// - Parameter indexer: of all of the source; where the stretch is found without, nothing is done with it.
  private static func stretch(
    _ opened: OpenedSource, _ settings: PlaybackSettings, _ indexer: inout StretchIndexer?, from start: ClockTime,
    to end: ClockTime?, of whole: TimeSpan?
  ) throws -> SourceStretch? {
    if indexer == nil, let (excerpt, hole) = opened.excerpt(of: reach(start, end)) {
      let found = try unlessInexact(opened) {
        try StretchIndexer(excerpt.indexer(settings), hole: hole, placesAudio: false).flatMap {
          try SourceStretch(opened, settings, $0, from: start, to: end, of: whole)
        }
      }
      if let found { return found }
    }
    var known = indexer
    defer { indexer = known }
    return try unlessInexact(opened) {
      known = try known ?? StretchIndexer(opened.indexer(settings), placesAudio: false)
      return try known.flatMap { try SourceStretch(opened, settings, $0, from: start, to: end, of: whole) }
    }
  }

  /// Result of `body`; nil where a stretch can't be known to be exact.
  private static func unlessInexact<Value>(_ opened: OpenedSource, _ body: () throws -> Value?) throws -> Value? {
    do {
      return try body()
    } catch let error as InexactStretch {
      Log.index.info("\(opened.name): all of it is indexed: \(error.reason)")
      return nil
    } catch let error as RetrogradeError {
      // The pass over all of the source reports the error, and what can be played all the same.
      Log.index.info("\(opened.name): all of it is indexed: \(error.message)")
      return nil
    }
  }
}

extension SourceStretch {
  /// - Parameters:
  ///   - beginning: nothing that is shown or heard from there on is missing, in stream time.
  ///   - end: where it ends; nil: with the source.
  ///   - whole: from where to where the source is presented; nil: it ends where this does.
  fileprivate init?(
    _ opened: OpenedSource, _ settings: PlaybackSettings, _ stretches: StretchIndexer, from beginning: ClockTime,
    to end: ClockTime?, of whole: TimeSpan?
  ) throws {
    // The demuxer may take as long to find its way there as all else that is looked at.
    let opening = try stretches.recipe.map { recipe in
      try Worker("open decoder") {
        let decoder = try VideoDecoder(recipe, FormatChanges(), settings.cancellation)
        decoder.approach(beginning)
        return decoder
      }
    }
    defer { _ = try? opening?.join() }
    let index = try stretches.index(from: beginning, to: end)
    // Audio that is not placed must not say when the source ends.
    guard
      index.audio.allSatisfy({ track in
        track.isPlaced
          || index.video?.duration != nil && track.span.end + AudioLayout.tolerance <= index.presentationEnd
      })
    else { return nil }
    let whole = whole ?? TimeSpan(start: index.presentationStart, end: index.presentationEnd)
    let end = end ?? whole.end
    // A group of pictures that begins there is not decoded twice.
    let keyframe = index.video.flatMap { video in
      video.starts.flatMap { starts in video.keyframes.map { starts[$0] }.first { $0 >= beginning } }
    }
    let start = keyframe.flatMap { $0 < end ? $0 : nil } ?? beginning
    guard whole.start <= start, start < end else { return nil }
    let range = TimeSpan(start: start, end: end)
    // All pads are made for the streams at the end.
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
