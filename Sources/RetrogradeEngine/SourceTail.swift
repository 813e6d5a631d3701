package import MediaTime

/// The end of a long source, which can be played backwards before all of it has been indexed.
package struct SourceTail: Sendable {
  /// Its legs are those of all of the source.
  package let source: PlayableSource
  /// Where it begins, in stream time.
  package let start: ClockTime
  /// Where in the output it has been played, and what comes before it is wanted.
  package let seam: ClockTime

  /// How much of the end is indexed. Sources not three times as long are indexed as fast.
  private static let length = ClockTime(seconds: 8)

  /// - Returns: nil where all of the source has to be indexed first.
  /// - Throws: ``CancellationError``.
  package init?(_ opened: OpenedSource, _ settings: PlaybackSettings) throws {
    let playback = settings.playback
    guard playback.loop == .reverse, settings.count == 1, playback.timing == .mirror, playback.start == nil,
      playback.end == nil, let declared = opened.stored.facts.report?.presentationEnd,
      declared > SourceTail.length * 3
    else { return nil }
    do {
      guard let tail = try SourceTail(opened, settings, from: declared - SourceTail.length) else { return nil }
      self = tail
    } catch let error as InexactStretch {
      Log.index.info("\(opened.name): all of it is indexed: \(error.reason)")
      return nil
    } catch let error as RetrogradeError {
      // Whoever indexes all of it says what is wrong, and what can be played all the same.
      Log.index.info("\(opened.name): all of it is indexed: \(error.message)")
      return nil
    }
  }

  /// - Parameter beginning: nothing that is shown or heard from there on is missing.
  private init?(_ opened: OpenedSource, _ settings: PlaybackSettings, from beginning: ClockTime) throws {
    guard let stretches = try StretchIndexer(opened.indexer(settings)) else { return nil }
    // The demuxer may take as long to find its way to the end as all else that is looked at there.
    let opening = try stretches.recipe.map { recipe in
      try Worker("open decoder") {
        let decoder = try VideoDecoder(recipe, FormatChanges(), settings.cancellation)
        decoder.approach(beginning)
        return decoder
      }
    }
    defer { _ = try? opening?.join() }
    let index = try stretches.index(from: beginning, to: nil)
    let whole = TimeSpan(start: index.presentationStart, end: index.presentationEnd)
    // A group of pictures that begins there is not decoded twice.
    let keyframe = index.video.flatMap { video in
      video.starts.flatMap { starts in video.keyframes.map { starts[$0] }.first { $0 >= beginning } }
    }
    start = keyframe ?? beginning
    guard whole.start < start, start < whole.end else { return nil }
    let range = TimeSpan(start: start, end: whole.end)
    // All pads are made of what is here.
    guard index.audio.count == stretches.trackCount,
      index.audio.allSatisfy({ !$0.frames(during: range).isEmpty }),
      index.video.map({ [start] in $0.starts?.contains { $0 >= start } ?? false }) ?? true
    else { return nil }
    let isAsBegun = index.recipe.map { stretches.recipe?.isSame(as: $0) ?? false } ?? false
    let parts = try SourceParts(index, settings, range, isAsBegun ? try? opening?.join() : nil)
    guard parts.isExact else { return nil }
    source = try PlayableSource(
      opened.name, index, parts, settings.playback, count: settings.count, for: settings.output, stored: opened.stored,
      whole: whole)
    seam = whole.end - start
  }
}
