package import GStreamer
import Quirks

extension Pipeline {
  /// Has decodebin, parsebin and their like plug only elements that read media from the bytes they are given
  /// (``plugOnlyMedia(skipping:_:)``), and none that is known to hang.
  package func plugOnlyMedia(_ refused: @escaping @Sendable (RefusedElement) -> Void = { _ in }) {
    plugOnlyMedia(
      skipping: { factory, caps in
        // Notes are no audio, and midiparse loops or crashes on damaged ones (1.22).
        caps.mediaType.hasSuffix("midi") || factory == "vp9parse" && caps.holdsAlpha && Quirk.vp9parseAlpha.applies
      }, refused)
  }
}

extension Caps {
  /// True for VP8 and VP9 with transparency in a second stream beside the video.
  package var holdsAlpha: Bool { description.contains("codec-alpha=(boolean)true") }
}
