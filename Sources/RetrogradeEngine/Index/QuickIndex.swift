import Containers
import MediaTime

/// Indexes a long source without a full pass, by reading only its beginning and end. The
/// container's tables contain the times of all other frames, and audio is decoded on request.
///
/// The result is exact: if the tables contradict the packets that were read, all video packets are
/// read. If the audio may have gaps, there is no quick index.
enum QuickIndex {
  /// Length of the source's end that is read. For sources shorter than three times this length, a
  /// full index is as fast.
  private static let tail = ClockTime(seconds: 8)

  /// - Returns: nil if the whole source has to be indexed.
  /// - Throws: `CancellationError`.
  static func make(
    _ opened: OpenedSource, _ settings: PlaybackSettings, _ progress: @escaping @Sendable (IndexProgress) -> Void
  ) throws -> SourceIndex? {
    let playback = settings.playback
    guard playback.start == nil, playback.end == nil, let declared = opened.stored.facts.report?.presentationEnd,
      declared > tail * 3
    else { return nil }
    do {
      let path = opened.stored.path
      let tables = try Worker("sample tables") { MP4SampleTimes(path, video: 0) }
      defer { _ = try? tables.join() }
      guard let stretches = try RangeIndexer(opened.indexer(settings)) else { return nil }
      let start = declared - tail
      let end = try stretches.index(from: start, to: nil)
      let beginning = stretches.beginning
      guard end.part?.reachesEnd == true, end.furtherVideos.isEmpty else { return nil }
      var index = end
      if let last = end.video {
        if let all = try tables.join().flatMap({ times in beginning.video.flatMap { last.completed(by: times, $0) } }) {
          index.video = all
        } else {
          // The tables cannot be used, so read all video packets. Skip the audio, because decoding
          // the audio takes longer.
          var silent = settings
          silent.playback.noAudio = true
          let all = try opened.indexer(silent, progress: progress).run()
          guard let video = all.video else { return nil }
          (index.video, index.warnings) = (video, (index.warnings + all.warnings).unique)
        }
      }
      guard let audio = audio(end, beginning, from: start, stretches.trackCount, opened, settings) else { return nil }
      index.audio = audio
      index.part = nil
      Log.index.info("\(opened.name): no more is read of it than its beginning and its end")
      return index
    } catch let error as InexactRange {
      Log.index.info("\(opened.name): all of it is indexed: \(error.reason)")
    } catch let error as RetrogradeError {
      // A full pass will report the error and find the streams that are still playable.
      Log.index.info("\(opened.name): all of it is indexed: \(error.message)")
    }
    return nil
  }

  /// Returns the audio tracks. Only the end of each track has been decoded so far.
  /// - Returns: nil if the audio may be incomplete or have gaps.
  private static func audio(
    _ end: SourceIndex, _ beginning: SourceIndex, from start: ClockTime, _ count: Int, _ opened: OpenedSource,
    _ settings: PlaybackSettings
  ) -> [AudioTrack]? {
    guard count > 0 else { return end.audio }
    guard end.audio.count == count, beginning.audio.count == count else { return nil }
    let known = TimeSpan(start: start, end: ClockTime(nanoseconds: .max))
    let samples = LazyAudioStore(opened, settings, known: (known, end.audio))
    var tracks: [AudioTrack] = []
    for (number, (first, last)) in zip(beginning.audio, end.audio).enumerated() {
      guard first.chunks.count == 1, last.chunks.count == 1, first.caps.isEqual(last.caps),
        last.frames.lowerBound <= start.sampleIndex(rate: last.rate)
      else { return nil }
      let range = first.frames.lowerBound..<max(last.frames.upperBound, first.frames.upperBound)
      let store = LazyAudioTrack(
        samples: samples, number: number, first: range.lowerBound, rate: last.rate, bytesPerFrame: last.bytesPerFrame)
      guard
        var track = AudioTrack(
          caps: last.caps, codec: last.codec, tags: last.tags,
          chunks: [AudioChunk(position: range.lowerBound, count: range.count, offset: 0)], bitrate: last.bitrate,
          store: store)
      else { return nil }
      track.disposition = last.disposition
      tracks.append(track)
    }
    return tracks
  }
}

extension VideoIndex {
  /// Returns the index of the whole video, with the packets from the container's tables. The tables
  /// are compared with the packets that were read: those of `beginning`, and those of this index,
  /// which contains the end of the video.
  /// - Returns: nil if the tables contradict the packets that were read.
  func completed(by times: MP4SampleTimes, _ beginning: VideoIndex) -> VideoIndex? {
    guard !isUntimed, let end = packets.last(where: { !$0.isHidden })?.time,
      let last = times.samples.map(\.shown).max(), let latest = packets.compactMap(\.time).max(), latest >= end
    else { return nil }
    func nanoseconds(_ units: Int) -> Int64 {
      // Round like GStreamer: whole seconds, and the remainder rounded down.
      let (seconds, rest) = (units / times.timescale, units % times.timescale)
      return Int64(seconds) * 1_000_000_000 + Int64(rest) * 1_000_000_000 / Int64(times.timescale)
    }
    // Offset of presentation times from the tables' times, due to the edit list.
    let shift = latest.nanoseconds - nanoseconds(last)
    let read = Set((beginning.packets + packets).compactMap(\.time))
    var shown: [ClockTime: Bool] = [:]
    let all = times.samples.map { sample in
      let time = ClockTime(nanoseconds: nanoseconds(sample.shown) + shift)
      if read.contains(time) { shown[time] = sample.isKeyframe }
      return VideoPacket(
        time: time, decodingTime: ClockTime(nanoseconds: nanoseconds(sample.decoded) + shift),
        duration: ClockTime(nanoseconds: nanoseconds(sample.duration)), isKeyframe: sample.isKeyframe,
        bytes: sample.bytes, isHidden: false)
    }
    let isSame = [beginning, self].allSatisfy { index in
      !index.packets.isEmpty
        && index.packets.allSatisfy { packet in
          packet.time.map { shown[$0] == packet.isKeyframe && !packet.isHidden } ?? false
        }
    }
    guard isSame, all.first?.time == beginning.packets.first?.time else { return nil }
    let index = replacing(all)
    return index.starts?.count == all.count ? index : nil
  }
}
