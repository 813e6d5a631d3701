package import GStreamer
import Quirks

extension Pipeline {
  /// Makes decodebin, parsebin and their like plug only elements that read media from the bytes they are
  /// given (``plugOnlyMedia(choosing:_:)``), and none that is known to hang. Scripts of SubStation Alpha are
  /// given out whole: ssaparse would make text without styles of them.
  package func plugOnlyMedia(_ refused: @escaping @Sendable (RefusedElement) -> Void = { _ in }) {
    plugOnlyMedia(
      choosing: { factory, caps in
        if factory == "ssaparse" { return .expose }
        // Notes are no audio, and midiparse loops or crashes on damaged ones (1.22).
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
