import GStreamer
import RetrogradeEngine

/// Chapters, names of streams, markers, comments and tags of a source, as an output holds them.
struct CarriedDetails: Sendable {
  let source: PlayableSource
  let playback: PlaybackOptions
  /// The output's container; nil if only its muxer knows what it holds.
  let container: Container?
  /// The streams that are written.
  let videos: [VideoSource]
  let audio: [AudioTrack]
  var subtitles: [SubtitleTrack] = []
  /// Whether another file's audio takes the place of the source's.
  var hasSoundtrack = false
  /// How many cover pictures the output has room for; nil: as its container.
  var mostCovers: Int?
  /// Whether the first audio stream is counted in other sample frames than the source's.
  let isResampled: Bool
  /// Whether audio that starts late is preceded by silence.
  let isPadded: Bool

  /// Content of the output, from the source's frames and samples.
  ///
  /// - Parameters:
  ///   - description: the pipeline, in `gst-launch-1.0` syntax.
  ///   - names: of the appsrcs, in the order of the streams.
  ///   - needsRate: whether the encoder of video stream `n` needs a frame rate.
  ///   - prepare: as of ``EncodingPipeline/Contents``.
  func contents(
    _ description: String, names: (videos: [String], audio: [String], texts: [String]),
    needsRate: (Int) -> Bool, _ prepare: @escaping @Sendable (Pipeline) throws -> String
  ) -> EncodingPipeline.Contents {
    EncodingPipeline.Contents(
      description: description,
      videos: zip(names.videos, videos).enumerated().map { number, video in
        stream(video.0, video.1, needsRate: needsRate(number))
      },
      audio: zip(names.audio, audio).map { name, track in
        .init(
          name: name, caps: track.caps, disposition: track.disposition, title: track.tags?.streamTitle,
          comments: comments(of: track.tags),
          sampleCount: AudioPlayer(track, source.heard, isPadded: isPadded).sampleCount)
      },
      texts: zip(names.texts, subtitles).map {
        .init(
          name: $0, caps: $1.caps, disposition: $1.disposition, title: $1.tags?.streamTitle,
          comments: comments(of: $1.tags))
      },
      chapters: waveChunks.haveMarkers ? [] : Chapter.played(source.index.chapters, source.legs.all),
      waveChunks: waveChunks.chunks, comments: comments, mp4Tags: source.facts?.mp4Tags ?? [], created: created,
      tags: source.index.tags?.removing(container?.miswrittenTags ?? []),
      duration: source.legs.duration, prepare: prepare)
  }

  private func stream(_ name: String, _ video: VideoSource, needsRate: Bool) -> EncodingPipeline.Stream {
    let isBackward = source.legs[0]?.direction == .backward
    return EncodingPipeline.Stream(
      name: name,
      caps: source.framed(video.encodedCaps(isBackward: isBackward), video, playback, needsRate: needsRate),
      disposition: video.video.disposition,
      fieldOrder: video.isTopFieldFirst.map { .init(isTopFieldFirst: $0 != isBackward) },
      title: video.video.tags?.streamTitle, comments: comments(of: video.video.tags))
  }

  /// Warnings for the details that the output does not hold.
  var unheld: [Warning] {
    let losesAttachments = source.index.tags?.has("attachment") ?? false
    return waveChunks.warnings + loopComments.warnings + unheldTitles + unheldTags + unheldCovers + unheldLanguages
      + unheldPlays + unheldForced
      + (losesAttachments ? [Warning(.detailLeftOut, "left out: the attachments, which no output holds")] : [])
  }

  /// Muxers write languages without region and script.
  private var unheldLanguages: [Warning] {
    let all = (videos.map(\.video.tags) + audio.map(\.tags) + subtitles.map(\.tags)).compactMap { $0?.language }
      .filter { $0.plain != $0.whole }
    return all.map { language in
      Warning(
        .detailLeftOut,
        "left out: region or script of the language \(language.whole): the output says \(language.plain)",
        count: 1)
    }
  }

  /// Warnings about subtitles that are shown whatever the viewer chooses, in MP4 and MOV, whose muxer can't
  /// say it.
  private var unheldForced: [Warning] {
    let count = subtitles.count { $0.disposition?.isForced ?? false }
    guard count > 0, !(container?.isMatroska ?? true) else { return [] }
    return [Warning(.detailLeftOut, "left out: the mark of subtitles that are always shown (forced)", count: count)]
  }

  /// How often an animation is played, where the output is none: a film is shown once, or as often as its player likes.
  private var unheldPlays: [Warning] {
    guard let plays = source.index.plays, plays > 1, container?.animation == nil else { return [] }
    return [Warning(.detailLeftOut, "left out: how often the animation is played (\(plays) times)", count: 1)]
  }

  private var unheldCovers: [Warning] {
    let count = source.index.tags?.count(of: "image") ?? 0
    let most = mostCovers ?? container?.mostCovers ?? 0
    guard count > most else { return [] }
    let what =
      most == 0
      ? "the cover art, which this container can't hold"
      : "\(count - most) of \(count) cover pictures: the output holds \(most)"
    return [Warning(.detailLeftOut, "left out: \(what)", count: count - most)]
  }

  /// The streams' names, where the container has several streams and no names.
  private var unheldTitles: [Warning] {
    let tags = videos.map(\.video.tags) + audio.map(\.tags) + subtitles.map(\.tags)
    // Ogg has them in its audio.
    let held = container?.isOgg ?? false ? audio.compactMap { $0.tags?.streamTitle } : []
    let count = tags.count { $0?.streamTitle.map { !held.contains($0) } ?? false }
    guard count > 0, tags.count > 1, !(container?.holdsTitles ?? false) else { return [] }
    return [Warning(Warning.noTitles.code, Warning.noTitles.message, count: count)]
  }
}

extension VideoSource {
  /// The caps of its frames for an encoder, which takes the order of fields from there even where each frame says it
  /// (`gst_x264_enc_init_encoder`).
  func encodedCaps(isBackward: Bool) -> Caps {
    var caps = caps
    if caps.isInterlaced, caps.string("field-order") == nil, let isTopFieldFirst {
      caps = caps.setting("field-order", "(string)\(isTopFieldFirst ? "top" : "bottom")-field-first")
    }
    return isBackward ? caps.mirroredFields : caps
  }
}

extension TagList {
  /// The language of a stream as it is, and without region and script (BCP 47), as `zh` of `zh-Hans`; nil where it is
  /// not said.
  var language: (whole: String, plain: String)? {
    string("language-code").flatMap { code in
      ["und", ""].contains(code) ? nil : (code, code.split(separator: "-").first.map(String.init) ?? code)
    }
  }

  /// The tags with ``language`` as muxers know it.
  var withPlainLanguage: TagList {
    guard let language, language.plain != language.whole,
      let tag = TagList("taglist, language-code=(string)\(Description.quoted(language.plain))")
    else { return self }
    return tag.merging(self)
  }

  /// Title of a stream by its author; nil for titles that matroskamux makes up
  /// (`gst_matroska_mux_request_new_pad`).
  var streamTitle: String? {
    string("title").flatMap { ["Video", "Audio", "Subtitle"].contains($0) ? nil : $0 }
  }
}
