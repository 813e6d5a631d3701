import GStreamer
import Quirks
import RetrogradeEngine

/// Settings of encoders, parsers and muxers that are applied before the pipeline starts.
extension Pipeline {
  /// Sets the requested encoder properties, and properties that work around errors of encoders.
  func setEncoders(for contents: EncodingPipeline.Contents) throws {
    for stream in contents.videos where !stream.encoderOptions.isEmpty {
      guard let encoder = element(stream.name)?.downstream.first(where: { $0.isOfClass("Encoder") }) else {
        continue
      }
      for (name, value) in stream.encoderOptions { try encoder.set(name, value) }
    }
    for stream in contents.audio {
      guard let size = stream.sampleCount.flatMap(FLACBlocks.size),
        let encoder = element(stream.name)?.downstream.first(where: { $0.factoryName == "flacenc" })
      else { continue }
      try encoder.set("blocksize", "\(size)")
    }
    try keepStereoApartInAAC()
    let streams: [(name: String, caps: Caps)] = contents.videos.map { ($0.name, $0.caps) }
    try nameChromaSite(of: streams)
    try nameLight(of: streams)
  }

  /// Adds the pad probes that correct the buffers, caps and events of all streams before the muxer.
  func correctStreams(of contents: EncodingPipeline.Contents) {
    if Quirk.h264parseDurations.applies { keepEncodedDurations() }
    if Quirk.flacparseLastBlock.applies { keepLastFLACBlocks() }
    nameY4MChromaSite()
    nameY4MFieldOrder()
    nameViewOrder(of: contents.videos.map(\.name))
    nameProResVariant(of: contents.videos.map(\.name))
    keepChromaSite()
    keepMatrixOfVP9()
    fillRowsOfJPEG()
    removeDuplicateHeader()
    setDecodingTimesOfFewFrames()
    limitDecodingDelay()
  }

  func setMuxers(for contents: EncodingPipeline.Contents, hasMP4Header: Bool) throws {
    if hasMP4Header { try setTimescales(for: contents) }
    if contents.videos.count + contents.audio.count > 1, Quirk.oggmuxLastPage.applies {
      for muxer in elements(ofFactory: "oggmux") {
        try muxer.set("max-page-delay", "0")
        try muxer.set("max-delay", "\(Int64.max)")
      }
    }
    if hasMP4Header {
      for video in contents.videos { EncodingPipeline.nameChromaSite(element(video.name)) }
    }
  }

  /// Sets the timescales of MP4 and MOV. Edit lists count in units of the movie's timescale. With
  /// the audio's sample rate as timescale, edits of audio are exact to the sample; without audio,
  /// the first video's timescale is used. If the duration in these units would not fit a signed
  /// 32-bit number, or is unknown, the movie's timescale stays unchanged.
  private func setTimescales(for contents: EncodingPipeline.Contents) throws {
    let scales = contents.videos.map { VideoTimescale.units(for: $0.caps.fraction("framerate")) }
    for (video, scale) in zip(contents.videos, scales) {
      if let source = element(video.name) { VideoTimescale.set(scale, after: source) }
    }
    guard let rate = contents.audio.first?.caps.int("rate") ?? scales.first,
      let duration = contents.duration, duration.seconds * Double(rate) < Double(Int32.max)
    else { return }
    for muxer in elements(ofClass: "Muxer")
    where muxer.factoryName.map({ Registry.property("movie-timescale", of: $0) }) ?? false {
      try muxer.set("movie-timescale", "\(rate)")
    }
  }

  /// Passes the file's tags and comments to the encoders and the muxer.
  func setTags(of contents: EncodingPipeline.Contents) {
    // Orientation is a tag of a stream, not of the file (Quirk.qtmuxGlobalOrientation).
    let technical = EncodingPipeline.technical + ["image-orientation"]
    let isFLAC = Quirk.flacencPictures.applies && !elements(ofFactory: "flacenc").isEmpty
    let own = isFLAC ? contents.tags?.withoutUndefinedImageTypes : contents.tags
    let writesYears = !elements(ofFactory: "id3v2mux").isEmpty
    let dated = writesYears ? own?.withYear : own?.withDate
    let tags = (dated?.removing(technical)).merging(TagList(comments: contents.comments))
    if let tags, !tags.isEmpty {
      setTags(writesYears && Quirk.id3v2muxComments.applies ? tags.withCommentFrames : tags)
    }
  }
}
