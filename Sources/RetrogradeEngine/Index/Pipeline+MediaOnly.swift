package import GStreamer
import Quirks

extension Pipeline {
  /// Limits decodebin, parsebin and similar elements to plugins that read media from their input.
  ///
  /// See ``plugOnlyMedia(choosing:_:)``. Elements that are known to hang or crash are excluded.
  /// ssaparse is excluded, too, because it would reduce SubStation Alpha scripts to text without
  /// styles.
  package func plugOnlyMedia(_ refused: @escaping @Sendable (RefusedElement) -> Void = { _ in }) {
    plugOnlyMedia(
      choosing: { factory, caps in
        if factory == "ssaparse" { return .expose }
        // Exclude MIDI: it contains notes, not audio, and midiparse loops or crashes on damaged
        // files (1.22).
        let skips =
          caps.mediaType.hasSuffix("midi") || factory == "vp9parse" && caps.holdsAlpha && Quirk.vp9parseAlpha.applies
        return skips ? .skip : .plug
      }, refused)
  }
}

extension Caps {
  /// True for VP8 and VP9 whose transparency is in a second stream beside the video.
  package var holdsAlpha: Bool { description.contains("codec-alpha=(boolean)true") }
}
