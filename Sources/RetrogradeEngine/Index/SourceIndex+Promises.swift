import Containers

/// Comparison of the container's declarations with the source's content.
extension SourceIndex {
  /// Adds warnings about missing data.
  mutating func compare(with opened: OpenedSource, _ videos: [VideoSource], _ settings: PlaybackSettings) {
    let (facts, playback) = (opened.stored.facts, settings.playback)
    if part == nil {
      let damage = facts.damage { settings.cancellation.isCancelled }
      warnings += damage.warnings(videos.map(\.timeline), audio)
    }
    let chapters = playback.wants(.chapters) ? facts.tagChapterCount : 0
    if chapters > 0 {
      warnings.append(
        Warning(
          .detailLeftOut,
          "left out: \(counted(chapters, "chapter")) in the file's ID3 tag, which GStreamer does not "
            + "read",
          count: chapters))
    }
    let late = part == nil && playback.wants(.chapters) ? opened.topology.chapterCount(from: presentationEnd) : 0
    if late > 0 {
      warnings.append(
        Warning(
          .detailLeftOut,
          "left out: \(late) chapter\(late == 1 ? " that begins" : "s that begin") "
            + "at the end of the source or later", count: late)
      )
    }
    if part == nil { warnings += [lateSubtitles(in: subtitles), subtitles.neverShown].compactMap { $0 } }
    // Report all details that the container lists. Report a detail found in the packets only if the
    // container does not list the same detail.
    let labels = videos.filter { !$0.arePackets }.flatMap(\.video.details).unique
    let details = facts.details + opened.topology.skippedStreams
    warnings += (details + labels.filter { !details.contains($0) }).leftOut(playback)
    plays = facts.gif?.plays
    if facts.isContinuous { warnings += audio.compactMap(\.missing) }
    guard let declared = facts.report else { return }
    let found = found(videos)
    var missing: [Warning] = []
    if part?.reachesEnd ?? true {
      missing = declared.warnings(
        found, isDamaged: warnings.contains { $0.code == .damaged }, isWhole: isWhole(of: declared, playback))
    }
    warnings += part == nil ? declared.missingPackets : []
    if !missing.isEmpty { declaredEnd = declared.presentationEnd }
    warnings += missing + opened.topology.unknown(of: declared, playback) + declared.unread
    if playback.wantsAny(.video) { warnings += declared.unshown }
    if part == nil { warnings += declared.laterFiles(after: found.map(\.end).max() ?? .zero) }
  }

  /// Returns a warning about subtitles that begin after all audio and video has ended; nil if there
  /// are none.
  package func lateSubtitles(in tracks: [SubtitleTrack]) -> Warning? {
    let end = presentationEnd
    let count = tracks.reduce(0) { sum, track in
      sum + track.cues.count { $0.span.start >= end && $0.span.start < $0.span.end }
    }
    return count == 0
      ? nil
      : Warning(
        .detailLeftOut,
        "left out: \(count) subtitle\(count == 1 ? " that begins" : "s that begin") "
          + "at the end of the source or later", count: count)
  }

  /// Returns the measured end of each stream, for comparison with the end that the container
  /// declares. The number of frames is known only if the whole source was indexed.
  private func found(_ videos: [VideoSource]) -> [ContainerReport.Found] {
    videos.map {
      ContainerReport.Found(kind: .video, frames: part == nil ? $0.timeline.count : nil, end: $0.timeline.end)
    } + audio.map { ContainerReport.Found(kind: .audio, frames: nil, end: $0.span.end) }
      + subtitles.compactMap { track in
        track.cues.map(\.span.end).max().map { ContainerReport.Found(kind: .subtitles, frames: nil, end: $0) }
      }
  }

  /// True if all streams that the container describes are indexed.
  private func isWhole(of declared: ContainerReport, _ playback: PlaybackOptions) -> Bool {
    let kinds = Set(declared.streams.map(\.kind))
    return playback.streams == nil
      // If a stream was left out with a warning, the declared end may be the end of that stream.
      && !warnings.contains { [.streamLeftOut, .missingPlugin].contains($0.code) }
      && (kinds.isEmpty ? !playback.noAudio && !playback.noVideo : kinds.allSatisfy(playback.wantsAny))
  }
}

extension [ContainerDetail] {
  /// Returns a warning for each distinct detail that the output loses, with the number of
  /// occurrences.
  package func leftOut(_ playback: PlaybackOptions) -> [Warning] {
    let counts = Dictionary(map { ($0, 1) }, uniquingKeysWith: +)
    let all = unique
    let named = all.prefix(Self.mostNamed)
    let others = all.dropFirst(Self.mostNamed).filter { $0.belongs(to: playback) }.count
    let rest = Warning(
      .detailLeftOut, "left out: \(others) more \(others == 1 ? "detail" : "details") like these", count: others)
    return named.compactMap { detail in
      let count = counts[detail] ?? 0
      guard detail.belongs(to: playback) else { return nil }
      switch detail.owner {
      case .streams, .file: return Warning(.detailLeftOut, "left out: \(detail.what)", count: count)
      case .track: break
      }
      let what = count == 1 ? "a track" : "\(count) tracks"
      return Warning(.streamLeftOut, "left out: \(what) of \(detail.what)", count: count)
    } + (others > 0 ? [rest] : [])
  }

  /// Largest number of details that each get a warning of their own. The other details share one
  /// warning, because a file may contain any number of non-text tags.
  private static var mostNamed: Int { 50 }
}

extension ContainerDetail {
  /// False if the detail belongs to streams of a kind that is not played. True for details of the
  /// file, of a track, and of streams of a played kind.
  fileprivate func belongs(to playback: PlaybackOptions) -> Bool {
    if case .streams(let kind) = owner { playback.wantsAny(kind) } else { true }
  }
}
