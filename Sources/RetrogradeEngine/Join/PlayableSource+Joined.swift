import GStreamer
package import MediaTime

extension PlayableSource {
  /// One of several sources that are played in sequence.
  package struct Part: Sendable {
    /// Name of the part for the user.
    package var name: String
    /// The whole source, played forwards.
    package var source: PlayableSource
    /// Conversion of the source's frames to the format of the first part; nil if not needed.
    package var fit: FrameFit?

    package init(name: String, source: PlayableSource, fit: FrameFit?) {
      (self.name, self.source, self.fit) = (name, source, fit)
    }

    var span: TimeSpan { source.legs.presentation.span }
  }

  /// Joins sources in sequence: each source begins after all streams of the previous source have
  /// ended.
  ///
  /// The result has the first video stream of each source, and as many audio streams as the first
  /// source with audio. If a source lacks one of these audio streams, the output stream is silent
  /// during that source.
  /// - Parameters:
  ///   - name: name of the result for the user.
  ///   - parts: at least one part; either all parts have video, or none has.
  /// - Throws: ``RetrogradeError``.
  package init(joining parts: [Part], as name: String, _ settings: PlaybackSettings) throws {
    var index = SourceIndex(recipe: nil, video: nil, audio: [], tags: parts[0].source.index.tags, warnings: [])
    var offsets: [ClockTime] = []
    var end = ClockTime.zero
    for part in parts {
      let offset = end - part.span.start
      offsets.append(offset)
      end = part.span.end + offset
      index.append(part, laterBy: offset)
    }
    index.audio = try PlayableSource.audio(parts, offsets, settings, &index.warnings)
    let videos = PlayableSource.videos(parts, offsets)
    if !videos.isEmpty { index.video = VideoIndex(videos) }
    let range = try PlayableSource.range(in: index, settings.playback)
    let video =
      try videos.isEmpty
      ? nil
      : VideoSource(
        joining: videos, range: range, rate: settings.sourceRate, resources: settings.resources, gauge: settings.gauge)
    try self.init(
      name, index, SourceParts(video, range), settings.playback, count: settings.count, for: settings.output,
      stored: nil)
    self.parts = parts.map(\.source)
  }

  private static func videos(_ parts: [Part], _ offsets: [ClockTime]) -> [VideoPart] {
    var count = 0
    return zip(parts, offsets).compactMap { part, offset in
      guard let video = part.source.video else { return nil }
      defer { count += video.timeline.count }
      return VideoPart(
        video: video, name: part.name, offset: offset, frames: count..<count + video.timeline.count, fit: part.fit)
    }
  }

  /// Returns the audio of all parts, in the format of the first part with audio.
  private static func audio(
    _ parts: [Part], _ offsets: [ClockTime], _ settings: PlaybackSettings, _ warnings: inout [Warning]
  ) throws -> [AudioTrack] {
    guard let first = parts.map(\.source.audio).first(where: { !$0.isEmpty }) else { return [] }
    for (part, offset) in zip(parts, offsets) {
      let span = TimeSpan(start: part.span.start + offset, end: part.span.end + offset)
      warnings += Warning.leftOut("audio", part.source.audio.count - first.count, of: part.name, span)
    }
    return try first.indices.compactMap { number in
      let form = first[number]
      let heard = try zip(parts, offsets).compactMap { part, offset -> AudioTrack.Part? in
        let span = TimeSpan(start: part.span.start + offset, end: part.span.end + offset)
        let what = first.count == 1 ? "audio" : "audio stream \(number)"
        guard part.source.audio.indices.contains(number) else {
          warnings.append(
            Warning(
              .converted, "\(part.name) has no \(what), so the output's \(what) is silent during that file",
              span: span))
          return nil
        }
        var track = part.source.audio[number]
        if !track.caps.isEqual(form.caps) {
          warnings.append(
            Warning(
              .converted,
              "\(part.name): to match the first file, this file's \(what) is converted from \(track.form) to "
                + "\(form.form)",
              span: span))
          track = try track.converted(
            like: form, of: part.name, settings.resources.spoolDirectory, settings.cancellation)
        }
        return AudioTrack.Part(track: track, span: part.span, offset: offset)
      }
      return AudioTrack(joining: heard)
    }
  }
}

extension SourceIndex {
  /// Adds the chapters, subtitles and warnings of a part.
  fileprivate mutating func append(_ part: PlayableSource.Part, laterBy offset: ClockTime) {
    let source = part.source
    func later(_ span: TimeSpan) -> TimeSpan { TimeSpan(start: span.start + offset, end: span.end + offset) }
    warnings += source.index.warnings.map { $0.joined(part.name, laterBy: offset) }
    let span = later(source.legs.presentation.span)
    warnings += Warning.leftOut("video", source.furtherVideos.count, of: part.name, span)
    chapters += source.index.chapters.map { $0.later(by: offset) }
    for (number, track) in source.index.subtitles.enumerated() {
      var moved = track
      moved.cues = track.cues.map { Cue(span: later($0.span), bytes: $0.bytes) }
      if subtitles.indices.contains(number), subtitles[number].caps.isEqual(track.caps) {
        subtitles[number].cues += moved.cues
      } else {
        subtitles.append(moved)
      }
    }
  }
}

extension Warning {
  /// Returns one warning about `count` left-out streams of a kind; no warning if `count` is 0 or
  /// less.
  fileprivate static func leftOut(_ kind: String, _ count: Int, of name: String, _ span: TimeSpan) -> [Warning] {
    guard count > 0 else { return [] }
    return [
      Warning(
        .streamLeftOut, "\(name): left out: \(count) additional \(kind) stream\(count == 1 ? "" : "s")", count: count,
        span: span)
    ]
  }
}

extension Chapter {
  /// Returns the chapter, moved to a time later by `offset`.
  package func later(by offset: ClockTime) -> Chapter {
    func later(_ span: TimeSpan) -> TimeSpan { TimeSpan(start: span.start + offset, end: span.end + offset) }
    return Chapter(
      span: later(span), title: title, children: children.map { $0.later(by: offset) }, marker: marker.map(later))
  }
}
