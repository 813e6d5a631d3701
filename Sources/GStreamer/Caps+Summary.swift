import CGStreamer

/// Summary of raw caps in technical terms.
extension Caps {
  /// Properties of raw video, such as `1920x1080, 29.97 fps, 10 bit, HDR10`, or of raw audio, such
  /// as `48 kHz, 5.1`; usual values are omitted. Empty for other media.
  package var summary: [String] {
    switch mediaType {
    case "video/x-raw": videoSummary
    case "audio/x-raw": [samplingRate, channelLayout].compactMap { $0 }
    default: []
    }
  }

  private var videoSummary: [String] {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0, let format = info.finfo?.pointee else { return [] }
    var parts = ["\(info.width)x\(info.height)"]
    parts.append(
      info.fps_n > 0 ? "\(decimals(Double(info.fps_n) / Double(max(info.fps_d, 1)))) fps" : "variable frame rate")
    if info.par_n != info.par_d { parts.append("pixels \(info.par_n):\(info.par_d)") }
    if format.depth.0 > 8 { parts.append("\(format.depth.0) bit") }
    parts += [chroma(format), dynamicRange].compactMap { $0 }
    if info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255,
      format.flags.rawValue & GST_VIDEO_FORMAT_FLAG_YUV.rawValue != 0
    {
      parts.append("full range")
    }
    if info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE { parts.append("interlaced") }
    return parts
  }

  /// Returns the chroma sampling, or `RGB`, `RGBA` or `grey`; nil for the usual 4:2:0.
  private func chroma(_ format: GstVideoFormatInfo) -> String? {
    let flags = format.flags.rawValue
    if flags & GST_VIDEO_FORMAT_FLAG_GRAY.rawValue != 0 { return "grey" }
    if flags & GST_VIDEO_FORMAT_FLAG_RGB.rawValue != 0 {
      return flags & GST_VIDEO_FORMAT_FLAG_ALPHA.rawValue != 0 ? "RGBA" : "RGB"
    }
    switch (format.w_sub.1, format.h_sub.1) {
    case (0, 0): return "4:4:4"
    case (1, 0): return "4:2:2"
    case (2, 0): return "4:1:1"
    default: return nil
    }
  }

  /// Name of the dynamic range, such as `HDR10`; nil for SDR.
  package var dynamicRange: String? {
    guard let colorimetry = string("colorimetry"), let transfer = colorimetry.split(separator: "-").last else {
      return nil
    }
    switch transfer {
    case "pq": return string("mastering-display-info") == nil ? "HDR (PQ)" : "HDR10"
    case "hlg": return "HDR (HLG)"
    default: return nil
    }
  }

  private var samplingRate: String? { int("rate").map { "\(decimals(Double($0) / 1000)) kHz" } }

  private var channelLayout: String? {
    guard let channels = int("channels") else { return nil }
    // Bit 3 is GST_AUDIO_CHANNEL_POSITION_LFE1.
    let hasBass = channelMask.map { $0 & 1 << 3 != 0 } ?? false
    switch (channels, hasBass) {
    case (1, _): return "mono"
    case (2, _): return "stereo"
    case (let count, true): return "\(count - 1).1"
    case (let count, false): return "\(count) channels"
    }
  }

  /// Formats `value` with at most two decimals, without trailing zeros.
  private func decimals(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let rest = hundredths % 100
    guard rest > 0 else { return "\(hundredths / 100)" }
    return "\(hundredths / 100)." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
  }
}
