import GStreamer
import RetrogradeEngine

extension CarriedDetails {
  /// The tags of the whole file that the container's muxer does not write.
  var unheldTags: [Warning] {
    guard let tags = source.index.tags, let held = container?.heldTags else { return [] }
    let others = Set(
      EncodingPipeline.technical + ["image", "preview-image", "attachment", "image-orientation", "datetime"])
    let names = tags.names.filter { !held.contains($0) && !others.contains($0) }
    guard !names.isEmpty else { return [] }
    return [
      Warning(
        .detailLeftOut,
        "left out: the tag\(names.count == 1 ? "" : "s") \(names.sorted().joined(separator: ", ")), which this "
          + "container's muxer does not write",
        count: names.count)
    ]
  }
}

extension Container {
  /// Names of the tags of the whole file that its muxer writes; nil if that is not known.
  var heldTags: Set<String>? {
    if imageFormat != nil || isTransportStream { return [] }
    guard let caps else { return nil }
    if caps.hasPrefix("video/quicktime") { return Container.tagsInMP4 }
    if caps == "video/x-msvideo" { return Container.tagsInAVI }
    return ["video/x-matroska", "video/webm"].contains(caps) ? Container.tagsInMatroska : nil
  }

  /// `gst_avi_mux_write_tag` of gstavimux.c, 1.22 to 1.28.
  private static let tagsInAVI: Set = [
    "location", "artist", "comment", "copyright", "date", "genre", "keywords", "title", "encoder", "isrc",
  ]

  /// `gst_matroska_tag_conv` of matroska-mux.c, 1.22 to 1.28.
  private static let tagsInMatroska: Set = [
    "title", "artist", "album", "comment", "date", "isrc", "copyright", "beats-per-minute", "license", "composer",
    "performer", "genre",
  ]

  /// `tag_matches_mp4` of gstqtmux.c, 1.22 to 1.28.
  private static let tagsInMP4: Set = [
    "album", "album-sortname", "artist", "artist-sortname", "album-artist", "album-artist-sortname",
    "application-name", "comment", "composer", "composer-sortname", "show-name", "show-sortname",
    "show-season-number", "show-episode-number", "genre", "title", "title-sortname", "performer", "grouping",
    "description", "lyrics", "copyright", "keywords", "date", "beats-per-minute", "track-number", "track-count",
    "album-disc-number", "album-disc-count",
  ]
}
