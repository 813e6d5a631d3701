import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine

/// Playback of the end and of seek targets of a long source while the whole source is being
/// indexed.
extension ReverseSource {
  /// Returns the part of a stream to play from `time` on.
  /// - Parameter name: name of the pad.
  /// - Returns: nil if playback was stopped, or if this stream needs the index of the whole source.
  ///   An audio stream without an exact position needs that index, even while the video does not.
  func part(at time: ClockTime, of name: String) throws -> SourceStream.Part? {
    do {
      guard let stretch = try state.withLock({ $0.stretches })?.stretch(at: time) else { return nil }
      let part = media(of: stretch.source, settings).first { $0.2 == name }.map {
        SourceStream.Part(media: $0.0, legs: stretch.source.legs, place: stretch.place(of: $0.0))
      }
      return part.flatMap { $0.place.map { $0.start <= time && time < $0.end } ?? false ? $0 : nil }
    } catch is CancellationError {
      return nil
    }
  }

  /// Switches to the completely indexed `source`, while its end, `tail`, is being played.
  func complete(_ tail: SourceRange, with source: PlayableSource, _ settings: SourceSettings) {
    // Frames already played keep their times, even if the source's end differs in the full index.
    let span = TimeSpan(
      start: source.legs.presentation.span.start, end: tail.source.legs.presentation.span.end)
    let legs =
      span == source.legs.presentation.span
      ? source.legs
      : PlaybackLegs(.reverse, count: 1, Presentation(span), timeline: source.video?.shown.timeline)
    let lost = source.legs.presentation.span.end - span.end
    if lost > .zero {
      warn(of: [
        Warning(.streamLeftOut, "left out: the last \(lost) of the source, which was found only after playback began")
      ])
    }
    if let length = legs.duration, length != tail.source.legs.duration {
      state.withLock { state in
        state.legs = legs
        state.segment.duration = guint64(length.raw)
      }
      gst_element_post_message(element, gst_message_new_duration_changed(element.asObject))
    }
    let known = media(of: source, settings)
    for stream in streams {
      guard let media = known.first(where: { $0.2 == stream.name })?.0 else {
        post(
          RetrogradeError(
            .damagedInput, "stream \(stream.name) can't be played: it exists only at the end of the source"))
        continue
      }
      stream.complete(with: SourceStream.Part(media: media, legs: legs))
    }
    forgetStretches()
  }

  func forgetStretches() {
    // Release the parts outside the lock.
    let stretches = state.withLock { $0.stretches.take() }
    _ = stretches
  }
}

extension SourceRange {
  func place(of media: SourceStream.Media) -> TimeSpan {
    if case .audio(let track) = media { place(of: track) } else { place }
  }
}
