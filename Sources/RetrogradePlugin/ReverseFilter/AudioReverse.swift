import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine

/// The element audioreverse.
final class AudioReverse: ElementBody, Sendable {
  static let log = DebugCategory("audioreverse", "Raw audio, last sample frame first")

  let filter: ReverseFilter

  init(_ element: UnsafeMutablePointer<GstElement>) {
    filter = ReverseFilter(
      element,
      ReverseFilter.Kind(
        mirroredCaps: { $0 },
        duration: { buffer, caps in
          guard let size = caps.bytesPerSampleFrame, size > 0, let rate = caps.int("rate"), rate > 0 else { return nil }
          return ClockTime(sampleIndex: buffer.size / size, rate: rate)
        },
        mirrored: { buffer, caps, start, duration in
          let copy = buffer.deepCopy()
          try copy.withAudioPlanes(caps) { plane, bytesPerFrame in
            SampleFrames.reverse(plane, bytesPerFrame: bytesPerFrame)
          }
          return copy.retimed(pts: start, duration: duration, isMirrored: false)
        },
        isMergeable: { $0.string("layout") == "interleaved" }, dropsLast: false,
        turn: { _, settings in settings.turnDuration },
        isDownloaded: false, layoutMeta: gst_audio_meta_api_get_type, plain: { buffer, _ in buffer }), AudioReverse.log)
  }

  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) { filter.setProperty(id, value) }
  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) { filter.getProperty(id, value) }
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn { filter.changeState(transition) }

  static let type = ElementType.register(
    "RetrogradeAudioReverse",
    classInit: { pointer, _ in
      guard let klass = ElementClass(pointer) else { return }
      klass.describe(
        name: "Audio reverser", klass: "Filter/Effect/Audio",
        description:
          "Outputs raw audio last sample frame first, when the stream has ended; or forwards and then back. "
          + "Channels keep their order. Audio beyond the memory budget waits in an unlinked temporary file")
      klass.addPad("sink", GST_PAD_SINK, GST_PAD_ALWAYS, "audio/x-raw")
      klass.addPad("src", GST_PAD_SRC, GST_PAD_ALWAYS, "audio/x-raw")
      ReverseFilter.installProperties(klass)
      klass.property(
        ReverseFilter.Property.turnDuration.rawValue, "turn-duration", "Turn duration",
        "With loop=ping-pong, how much audio is left out at the turn, in nanoseconds: the duration of a video frame, so "
          + "that audio stays in sync with a videoreverse beside it, which shows the frame at the turn once",
        uint64: 0, from: 0, to: UInt64(Int64.max))
    },
    instanceInit: { instance, _ in if let instance { ElementType.attach(AudioReverse.self, to: instance) } })
}
