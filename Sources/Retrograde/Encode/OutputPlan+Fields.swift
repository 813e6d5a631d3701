import GStreamer
import RetrogradeEngine

extension OutputPlan {
  /// Warnings about interlaced video, if the output can't store the interlace flag or the field
  /// order.
  var unsupportedFields: [Warning] {
    zip(videos, choice.videos).compactMap { video, written in
      let codec = written.codec?.caps
      guard video.caps.isInterlaced, !choice.deinterlaces, !written.deinterlaces,
        codec != nil || choice.container.imageFormat != nil, written.packets == nil
      else { return nil }
      let isMarked = codec.map { EncoderSettings.interlacedCodecs.contains($0.mediaType) } ?? false
      if !isMarked, !choice.container.holdsFieldOrder {
        let format = codec.map { "\($0.codecName) can't hold in this container" } ?? "images can't hold"
        return Warning(
          .detailLeftOut,
          "left out: the interlace flag, which \(format); use \(setting: .deinterlaces) to make progressive frames"
        )
      }
      let isInBothDirections = Set(source.legs.all.map(\.direction)).count > 1
      let holdsOne: String? = codec?.mediaType == "video/x-h264" ? "H.264" : choice.container.isY4M ? "Y4M" : nil
      guard let holdsOne, video.isTopFieldFirst != nil, isInBothDirections else { return nil }
      return Warning(
        .converted,
        "changed: the field order, since video played in both directions needs two, and \(holdsOne) can hold only one; "
          + "use \(setting: .deinterlaces) to make progressive frames"
      )
    }.unique
  }

  /// Warnings about stereoscopic video whose layout of the two views is not written. Besides the
  /// muxers, x264 writes it, but only with the left view first.
  var unsupportedViews: [Warning] {
    zip(videos, choice.videos).compactMap { video, written in
      guard let layout = video.caps.stereoLayout else { return nil }
      let isByEncoder =
        written.packets == nil && written.codec?.encoder == "x264enc" && OutputPlan.viewsOfH264.contains(layout)
      if isByEncoder, video.caps.isRightViewFirst, !choice.container.isMatroska {
        return Warning(
          .converted,
          "changed: the order of the two views (\(layout), right view first), since x264 declares the left view "
            + "first; write .mkv")
      }
      let isInPackets = written.packets != nil && video.video.declaresViews
      guard !isByEncoder, !isInPackets, !choice.container.holdsViews(layout) else { return nil }
      return Warning(
        .detailLeftOut,
        "left out: the layout of the two views of stereoscopic video (\(layout)), which is not written with "
          + "\(written.codec?.caps.codecName ?? "this format") in this container; write .mkv")
    }.unique
  }

  /// Warnings about unusual chroma sample locations that the output's codec can't store.
  var unsupportedChromaSites: [Warning] {
    let names = ["jpeg": "centre", "dv": "top left", "v-cosited": "top left"]
    return zip(videos, choice.videos).compactMap { video, written in
      guard written.packets == nil, let codec = written.codec?.caps,
        // Consider only codecs that store the chroma site; for others, the decoder reports a guess
        // or a constant.
        OutputPlan.codecsWithChromaSite.contains(video.video.caps.mediaType), codec.mediaType.hasPrefix("video/"),
        let site = video.caps.string("chroma-site").flatMap({ names[$0] }),
        !OutputPlan.codecsWithChromaSite.contains(codec.mediaType)
      else { return nil }
      return Warning(
        .detailLeftOut,
        "left out: the location of chroma samples (\(site)), which \(codec.codecName) can't hold in this container"
      )
    }.unique
  }

  /// Warnings about high dynamic range that neither the output's codec nor its container can
  /// declare; players would show wrong colours. Matroska can declare high dynamic range for any
  /// codec.
  var unsupportedRange: [Warning] {
    if choice.container.isMatroska { return [] }
    return zip(videos, choice.videos).compactMap { video, written in
      guard written.packets == nil, let range = video.caps.highDynamicRange,
        !(written.codec.map { OutputPlan.codecsWithRange.contains($0.caps.mediaType) } ?? false)
      else { return nil }
      let format = written.codec?.caps.codecName ?? "this format"
      return Warning(
        .converted, "changed: the colours look pale, since \(format) can't declare the high dynamic range (\(range))")
    }.unique
  }

  /// Warnings about HDR10 metadata that is not written. The Matroska muxer writes the metadata of
  /// all codecs; in other containers, only x264 and x265 write it, into their streams.
  var unsupportedLight: [Warning] {
    if choice.container.isMatroska { return [] }
    return zip(videos, choice.videos).compactMap { video, written in
      let lost = Caps.lightFields.filter { video.caps.declaresLight($0.field) }.map(\.name)
      let encoders: Set = ["x264enc", "x265enc"]
      guard written.packets == nil, !lost.isEmpty, !(written.codec?.encoder.map(encoders.contains) ?? false),
        // If the codec can't declare high dynamic range, ``unsupportedRange`` already warns.
        video.caps.highDynamicRange == nil
          || written.codec.map({ OutputPlan.codecsWithRange.contains($0.caps.mediaType) }) ?? false
      else { return nil }
      return Warning(
        .detailLeftOut,
        "left out: the HDR10 metadata (\(lost.joined(separator: " and "))), which is not written with "
          + "\(written.codec?.caps.codecName ?? "this format") in this container; write .mkv")
    }.unique
  }

  /// Warnings about declared colours that Theora can't hold. Frames are converted to Theora's range
  /// and matrix (``TheoraFrames``).
  var unsupportedColours: [Warning] {
    zip(videos, choice.videos).compactMap { video, written in
      let packets = video.video.caps
      guard written.packets == nil, let codec = written.codec?.caps, codec.mediaType == "video/x-theora",
        // Consider only video that declares its colours; for other video, the decoder reports a
        // guess or a constant.
        packets.has("colorimetry") || ["video/mpeg", "video/x-prores"].contains(packets.mediaType),
        // ``unsupportedRange`` already warns about high dynamic range.
        video.caps.highDynamicRange == nil || choice.container.isMatroska,
        !video.caps.isRGB, let colours = video.caps.string("colorimetry")
      else { return nil }
      // Nothing is lost if the primaries are unknown (0), and the transfer function is unknown (0)
      // or that of BT.709 (5), which decoders of Theora assume.
      let parts = colours.split(separator: ":")
      if parts.count == 4, ["0", "5"].contains(parts[2]), parts[3] == "0" { return nil }
      return Warning(
        .detailLeftOut,
        "left out: the colour primaries and transfer function (\(colours)), which \(codec.codecName) can't hold")
    }.unique
  }

  /// Warnings about ProRes 4444, whose 12 bits a sample are decoded to 10
  /// (`Quirk.avdecProResDepth`).
  var reducedDecoding: [Warning] {
    zip(videos, choice.videos).compactMap { video, written in
      let packets = video.video.caps
      guard written.packets == nil, packets.mediaType == "video/x-prores",
        (packets.string("variant") ?? packets.string("format"))?.hasPrefix("4444") ?? false,
        let depth = video.caps.string("format").flatMap({ PixelFormat($0) })?.depth, depth < 12
      else { return nil }
      return Warning(
        .converted,
        "changed: the video's 12 bits a sample become \(depth), since GStreamer decodes ProRes with \(depth)")
    }.unique
  }

  private static let codecsWithRange: Set = [
    "video/x-h264", "video/x-h265", "video/x-vp9", "video/x-av1",
  ]

  /// Layouts of stereoscopic video that x264 writes (frame packing arrangement, ITU-T H.264,
  /// D.2.26).
  private static let viewsOfH264: Set = [
    "checkerboard", "column-interleaved", "row-interleaved", "side-by-side", "top-bottom", "frame-by-frame",
  ]

  /// Codecs whose stream stores the chroma location.
  private static let codecsWithChromaSite: Set = ["video/x-h264", "video/x-h265"]
}
