package import CGStreamer

/// Description of a media type (`GstCaps`). Immutable, so it may be shared between threads.
package final class Caps: @unchecked Sendable, CustomStringConvertible {
  // GstCaps is refcounted atomically, and this class never writes to the caps after creation.
  package let raw: UnsafeMutablePointer<GstCaps>

  init(adopting raw: UnsafeMutablePointer<GstCaps>) { self.raw = raw }
  package init(retaining raw: UnsafeMutablePointer<GstCaps>) { self.raw = gst_caps_ref(raw) }
  deinit { gst_caps_unref(raw) }

  /// Parses caps such as `video/x-h264, alignment=au`; nil if the text is invalid.
  package convenience init?(_ text: String) {
    guard (try? GStreamer.initialize()) != nil, let raw = gst_caps_from_string(text) else { return nil }
    self.init(adopting: raw)
  }

  package var description: String { takeString(gst_caps_to_string(raw)) ?? "" }

  /// Name of the first structure, such as `video/x-raw`.
  package var mediaType: String {
    guard let structure = first, let name = gst_structure_get_name(structure) else { return "" }
    return String(cString: name)
  }

  private var first: UnsafeMutablePointer<GstStructure>? {
    gst_caps_get_size(raw) > 0 ? gst_caps_get_structure(raw, 0) : nil
  }

  package func int(_ field: String) -> Int? {
    var value: gint = 0
    guard let first, gst_structure_get_int(first, field, &value) != 0 else { return nil }
    return Int(value)
  }

  /// Returns the bytes of a caps field whose value is a buffer, such as `codec_data`.
  package func buffer(_ field: String) -> [UInt8]? {
    guard let first, let value = gst_structure_get_value(first, field), let raw = boxedBuffer(value) else {
      return nil
    }
    return try? Buffer(retaining: raw).withBytes { Array($0) }
  }

  package func string(_ field: String) -> String? {
    guard let first, let text = gst_structure_get_string(first, field) else { return nil }
    return String(cString: text)
  }

  /// Returns the value of a caps field that is a fraction, such as a frame rate or a pixel aspect
  /// ratio.
  package func fraction(_ field: String) -> (numerator: Int, denominator: Int)? {
    var n: gint = 0
    var d: gint = 1
    guard let first, gst_structure_get_fraction(first, field, &n, &d) != 0 else { return nil }
    return (Int(n), Int(d))
  }

  /// Returns the flags of a caps field that is a flag set.
  private func flags(_ field: String) -> guint? {
    var (value, mask): (guint, guint) = (0, 0)
    guard let first, gst_structure_get_flagset(first, field, &value, &mask) != 0 else { return nil }
    return value
  }

  /// Layout of the two views of stereoscopic video, such as `side-by-side`
  /// (`GstVideoMultiviewMode`); nil for other video.
  package var stereoLayout: String? { string("multiview-mode").flatMap { $0 == "mono" ? nil : $0 } }

  /// True if the right view of stereoscopic video is the first one.
  package var isRightViewFirst: Bool {
    (flags("multiview-flags") ?? 0) & guint(GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST.rawValue) != 0
  }

  package func has(_ field: String) -> Bool {
    guard let first else { return false }
    return gst_structure_has_field(first, field) != 0
  }

  /// Returns a copy of the caps without `fields`.
  package func removing(_ fields: [String]) -> Caps {
    guard let copy = gst_caps_copy(raw) else { return self }
    for index in 0..<gst_caps_get_size(copy) {
      for field in fields { gst_structure_remove_field(gst_caps_get_structure(copy, index), field) }
    }
    return Caps(adopting: copy)
  }

  /// Returns a copy of the caps with `field` set to `value`, which is in caps syntax, such as
  /// `(fraction)30/1`.
  package func setting(_ field: String, _ value: String) -> Caps {
    let rest = removing([field]).description
    return Caps("\(rest), \(field)=\(value)") ?? self
  }

  /// True if some media matches both caps: `gst_caps_can_intersect`.
  package func intersects(_ other: Caps) -> Bool { gst_caps_can_intersect(raw, other.raw) != 0 }

  /// True if both caps are equal: `gst_caps_is_equal`.
  package func isEqual(_ other: Caps) -> Bool { gst_caps_is_equal(raw, other.raw) != 0 }

  /// Readable name of the codec, such as `H.264 (High Profile)`:
  /// `gst_pb_utils_get_codec_description`.
  package var codecName: String {
    // Only gst-libav uses this media type, so GStreamer has no name for this codec.
    if mediaType == "image/gst-libav-gif" { return "GIF" }
    if isALS { return "MPEG-4 ALS" }
    return takeString(gst_pb_utils_get_codec_description(raw)) ?? mediaType
  }

  /// True for MPEG-4 Audio Lossless Coding, which GStreamer reports as AAC. Its object type is 36,
  /// coded as the escape value 31 and then 36 - 32 = 4 (ISO/IEC 14496-3, 1.6.2.1).
  package var isALS: Bool {
    guard mediaType == "audio/mpeg", int("mpegversion") == 4, let start = buffer("codec_data"),
      start.count >= 2
    else { return false }
    return start[0] == 0xF8 && start[1] & 0xE0 == 0x80
  }
}

extension Caps {
  /// Size in bytes of a sample frame of raw audio: one sample of every channel
  /// (`gst_audio_info_from_caps`).
  package var bytesPerSampleFrame: Int? {
    var info = GstAudioInfo()
    guard gst_audio_info_from_caps(&info, raw) != 0 else { return nil }
    return Int(info.bpf)
  }
}

extension Caps {
  /// Creates caps of interleaved 32-bit float samples. Up to 8 channels get GStreamer's default
  /// positions for their number (`gst_audio_channel_get_fallback_mask`).
  package convenience init?(floatSamplesOf channels: Int, rate: Int) {
    let mask = UInt64(gst_audio_channel_get_fallback_mask(gint(clamping: channels)))
    self.init(
      "audio/x-raw,format=F32LE,layout=interleaved,rate=\(rate),channels=\(channels)"
        + (channels > 1 ? ",\(Caps.field(channelMask: mask))" : ""))
  }
}

/// Equivalent of the macro `gst_value_get_buffer`.
private func boxedBuffer(_ value: UnsafePointer<GValue>) -> UnsafeMutablePointer<GstBuffer>? {
  guard g_type_check_value_holds(value, gst_buffer_get_type()) != 0 else { return nil }
  return g_value_get_boxed(value)?.assumingMemoryBound(to: GstBuffer.self)
}

extension Caps {
  /// Channel mask of raw audio, one bit for each `GstAudioChannelPosition`; nil if not specified.
  package var channelMask: UInt64? {
    guard let first, let value = gst_structure_get_value(first, "channel-mask"),
      g_type_check_value_holds(value, gst_bitmask_get_type()) != 0
    else { return nil }
    return UInt64(gst_value_get_bitmask(value))
  }

  /// True for raw audio with more than two channels and no channel mask. GStreamer's own elements
  /// refuse such audio.
  package var lacksChannelMask: Bool {
    mediaType == "audio/x-raw" && int("channels").map { $0 > 2 } ?? false && !has("channel-mask")
  }

  /// Returns the caps field `channel-mask` with the value `mask`, in caps syntax.
  package static func field(channelMask mask: UInt64) -> String {
    "channel-mask=(bitmask)0x\(String(mask, radix: 16))"
  }
}
