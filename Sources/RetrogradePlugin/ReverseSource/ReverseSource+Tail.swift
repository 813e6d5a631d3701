import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine

/// The end of a long source, played while all of it is being indexed.
extension ReverseSource {
  /// All of a source is known whose end is being played.
  func complete(_ tail: SourceTail, with source: PlayableSource, _ settings: SourceSettings) {
    // What has been played lies where it did, should the two not agree when the source ends.
    let span = TimeSpan(
      start: source.legs.presentation.span.start, end: tail.source.legs.presentation.span.end)
    let legs =
      span == source.legs.presentation.span
      ? source.legs
      : PlaybackLegs(.reverse, count: 1, Presentation(span), timeline: source.video?.shown.timeline)
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
        post(RetrogradeError(.damagedInput, "\(stream.name) is in the end of the source, and not in all of it"))
        continue
      }
      stream.complete(with: SourceStream.Whole(media: media, legs: legs))
    }
  }
}
