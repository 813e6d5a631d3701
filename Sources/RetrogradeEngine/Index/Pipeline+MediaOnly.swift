package import GStreamer
import Quirks

extension Pipeline {
  /// Limits decodebin, parsebin and similar elements to plugins that read media from their input.
  /// See ``plugOnlyMedia(choosing:_:)``. Elements known to hang are excluded. SubStation Alpha
  /// scripts stay whole: ssaparse would reduce them to text without styles.
  package func plugOnlyMedia(_ refused: @escaping @Sendable (RefusedElement) -> Void = { _ in }) {
    plugOnlyMedia(
      choosing: { factory, caps in
        if factory == "ssaparse" { return .expose }
        // MIDI notes are not audio, and midiparse loops or crashes on damaged files (1.22).
        let skips =
          caps.mediaType.hasSuffix("midi") || factory == "vp9parse" && caps.holdsAlpha && Quirk.vp9parseAlpha.applies
        return skips ? .skip : .plug
      }, refused)
  }
}

extension Caps {
  /// True for VP8 and VP9 with transparency in a second stream beside the video.
  package var holdsAlpha: Bool { description.contains("codec-alpha=(boolean)true") }
}
