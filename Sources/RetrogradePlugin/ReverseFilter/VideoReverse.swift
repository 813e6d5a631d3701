import CGStreamer
import GStreamer
import MediaTime

/// The element videoreverse.
final class VideoReverse: ElementBody, Sendable {
  static let log = DebugCategory("videoreverse", "Raw video, last frame first")

  let filter: ReverseFilter

  init(_ element: UnsafeMutablePointer<GstElement>) {
    filter = ReverseFilter(
      element,
      ReverseFilter.Kind(
        mirroredCaps: { $0.mirroredFields },
        duration: { _, caps in VideoReverse.frameDuration(caps) },
        mirrored: { buffer, _, start, duration in
          buffer.retimed(pts: start, duration: duration, isMirrored: true)
        },
        isMergeable: { _ in false }, dropsLast: true,
        turn: { caps, _ in VideoReverse.frameDuration(caps) }, isDownloaded: true,
        layoutMeta: gst_video_meta_api_get_type,
        plain: { buffer, caps in try buffer.inPlainLayout(caps) }), VideoReverse.log)
  }

  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) { filter.setProperty(id, value) }
  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) { filter.getProperty(id, value) }
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn { filter.changeState(transition) }

  /// Duration of a frame; nil for a variable frame rate.
  private static func frameDuration(_ caps: Caps) -> ClockTime? {
    guard let rate = caps.fraction("framerate"), rate.numerator > 0 else { return nil }
    return ClockTime(sampleIndex: rate.denominator, rate: rate.numerator)
  }

  private static let caps =
    "video/x-raw; video/x-raw(format:Interlaced); video/x-raw(memory:SystemMemory, meta:GstVideoOverlayComposition)"
  private static let elsewhere = "; video/x-raw(memory:VAMemory); video/x-raw(memory:GLMemory)"

  static let type = ElementType.register(
    "RetrogradeVideoReverse",
    classInit: { pointer, _ in
      guard let klass = ElementClass(pointer) else { return }
      klass.describe(
        name: "Video reverser", klass: "Filter/Effect/Video",
        description:
          "Outputs raw video last frame first, when the stream has ended; or forwards and then back. Frames "
          + "beyond the memory budget wait in an unlinked temporary file")
      klass.addPad("sink", GST_PAD_SINK, GST_PAD_ALWAYS, VideoReverse.caps + VideoReverse.elsewhere)
      klass.addPad("src", GST_PAD_SRC, GST_PAD_ALWAYS, VideoReverse.caps)
      ReverseFilter.installProperties(klass)
    },
    instanceInit: { instance, _ in if let instance { ElementType.attach(VideoReverse.self, to: instance) } })
}
