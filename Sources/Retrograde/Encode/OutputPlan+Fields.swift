import GStreamer
import RetrogradeEngine

extension OutputPlan {
  /// Warnings for interlaced video whose fields the output does not describe as the source does.
  var unheldFields: [Warning] {
    zip(videos, choice.videos).compactMap { video, written in
      guard video.caps.isInterlaced, !choice.deinterlaces, !written.deinterlaces, let codec = written.codec?.caps,
        written.packets == nil
      else { return nil }
      if !EncoderSettings.interlacedCodecs.contains(codec.mediaType), !choice.container.holdsFieldOrder {
        return Warning(
          .detailLeftOut,
          "left out: that frames are made of two fields, which \(codec.codecName) cannot say in this container; "
            + "\(setting: .deinterlaces) makes whole frames"
        )
      }
      let isInBothDirections = Set(source.legs.all.map(\.direction)).count > 1
      guard codec.mediaType == "video/x-h264", video.isTopFieldFirst != nil, isInBothDirections else { return nil }
      return Warning(
        .converted,
        "changed: the order of fields, which H.264 has once for a film that is played in both directions; "
          + "\(setting: .deinterlaces) makes whole frames"
      )
    }.unique
  }
}
