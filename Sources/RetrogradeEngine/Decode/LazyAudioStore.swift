import MediaTime
import Synchronization

/// The audio of a source, decoded in parts on request. If a part can't be decoded exactly, the
/// whole audio is decoded.
///
/// ``RangeIndexer`` decodes the parts, so that their samples equal those of a pass over the whole
/// source.
final class LazyAudioStore: Sendable {
  /// A part of the source, in stream time, and its audio tracks in stream order.
  private struct IndexedRange {
    var span: TimeSpan
    var tracks: [AudioTrack]
  }

  private struct State {
    /// Decoded parts; the most recently used part is at the end.
    var recent: [IndexedRange]
    /// Audio of the whole source, once it is decoded.
    var whole: [AudioTrack]?
  }

  private let opened: OpenedSource
  private let settings: PlaybackSettings
  private let state: Mutex<State>
  /// Reads one part at a time. Not locked while the whole source is decoded, so that other threads
  /// can still read parts.
  private let indexer = Mutex<RangeIndexer?>(nil)
  /// Locked while the whole source is decoded.
  private let decoding = Mutex(())

  /// Length of a part: about the length of a request, and much longer than the audio that must be
  /// decoded before the part to get exact samples.
  private static let length = ClockTime(seconds: 8)
  /// Maximum number of cached parts, enough for several players at different positions, and for
  /// requests that span two parts.
  private static let most = 6

  /// - Parameter known: a part that is already decoded, and its audio.
  init(_ opened: OpenedSource, _ settings: PlaybackSettings, known: (span: TimeSpan, tracks: [AudioTrack])) {
    self.opened = opened
    var settings = settings
    settings.playback.noVideo = true
    // Use a new cancellation, because the old one may be set when the client that opened the source
    // disconnects.
    settings.cancellation = Cancellation()
    self.settings = settings
    state = Mutex(State(recent: [IndexedRange(span: known.span, tracks: known.tracks)]))
  }

  /// Returns the audio tracks of a part that contains `time`, and the end of this part. `end` is
  /// nil if the tracks cover the whole source.
  fileprivate func tracks(at time: ClockTime) throws -> (tracks: [AudioTrack], end: ClockTime?) {
    if let known = known(at: time) { return known }
    do {
      return try indexer.withLock { indexer in
        // Another thread may have read the part meanwhile.
        if let known = known(at: time) { return known }
        return try read(at: time, &indexer)
      }
    } catch let error as InexactRange {
      Log.index.info("\(opened.name): all of its audio is decoded: \(error.reason)")
      return (try decodeAll(), nil)
    }
  }

  private func known(at time: ClockTime) -> (tracks: [AudioTrack], end: ClockTime?)? {
    state.withLock { state in
      if let whole = state.whole { return (whole, nil) }
      guard let place = state.recent.firstIndex(where: { $0.span.start <= time && time < $0.span.end }) else {
        return nil
      }
      let known = state.recent.remove(at: place)
      state.recent.append(known)
      return (known.tracks, known.span.end)
    }
  }

  private func read(
    at time: ClockTime, _ indexer: inout RangeIndexer?
  ) throws -> (tracks: [AudioTrack], end: ClockTime?) {
    let number = max(time, .zero).nanoseconds / LazyAudioStore.length.nanoseconds
    let start = ClockTime(nanoseconds: number * LazyAudioStore.length.nanoseconds)
    let span = TimeSpan(start: min(start, time), end: start + LazyAudioStore.length)
    if indexer == nil { indexer = try RangeIndexer(opened.indexer(settings)) }
    guard let reader = indexer else { throw InexactRange(reason: "its audio can't be read in stretches") }
    let index = try reader.index(from: span.start, to: span.end)
    guard index.audio.count == reader.trackCount else {
      throw InexactRange(reason: "a part of it has fewer audio streams than the whole")
    }
    // If a part is removed from the cache, `gone` releases it outside the lock.
    let gone: IndexedRange? = state.withLock { state in
      state.recent.append(IndexedRange(span: span, tracks: index.audio))
      return state.recent.count > LazyAudioStore.most ? state.recent.removeFirst() : nil
    }
    _ = gone
    return (index.audio, span.end)
  }

  /// Decodes the audio of the whole source, if it is not decoded yet.
  private func decodeAll() throws -> [AudioTrack] {
    try decoding.withLock { _ in
      if let whole = state.withLock({ $0.whole }) { return whole }
      let whole = try opened.indexer(settings).run().audio
      let gone = state.withLock { state in
        defer { (state.whole, state.recent) = (whole, []) }
        return state.recent
      }
      _ = gone
      indexer.withLock { $0 = nil }
      return whole
    }
  }
}

/// One track of ``LazyAudioStore``.
struct LazyAudioTrack: SampleStore {
  let samples: LazyAudioStore
  let number: Int
  /// Position of the first sample frame, counted from stream time 0.
  let first: Int
  let rate: Int
  let bytesPerFrame: Int

  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    let size = max(bytesPerFrame, 1)
    var position = first + offset / size
    let end = position + bytes.count / size
    var done = 0
    while position < end {
      let (tracks, stretchEnd) = try samples.tracks(at: ClockTime(sampleIndex: position, rate: rate))
      // A part ends with the last sample before the part's end time.
      let next = min(max(stretchEnd?.sampleIndex(rate: rate) ?? end, position + 1), end)
      guard tracks.indices.contains(number), tracks[number].bytesPerFrame == bytesPerFrame else {
        throw RetrogradeError(.damagedInput, "the format of the audio changes within the source")
      }
      let part = UnsafeMutableRawBufferPointer(rebasing: bytes[done..<done + (next - position) * size])
      try tracks[number].read(position..<next, within: tracks[number].frames, into: part)
      done += part.count
      position = next
    }
  }
}
