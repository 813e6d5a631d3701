import GStreamer
import RetrogradeEngine

/// Chapters, stream titles, markers, comments and tags of a source, converted for an output.
struct CarriedDetails: Sendable {
  let source: PlayableSource
  let playback: PlaybackOptions
  /// The output's container; nil if only the pipeline's muxer is known.
  let container: Container?
  /// Video streams that are written.
  let videos: [VideoSource]
  let audio: [AudioTrack]
  var subtitles: [SubtitleTrack] = []
  /// True if audio from another file replaces the source's audio.
  var hasSoundtrack = false
  /// Largest number of cover pictures in the output; nil: as many as the container allows.
  var mostCovers: Int?
  /// True if the first audio stream has another sample rate in the output than in the source.
  let isResampled: Bool
  /// True if silence is inserted before audio that starts later than the file.
  let isPadded: Bool

  /// Returns the content of an output that is encoded from the source's frames and samples.
  ///
  /// - Parameters:
  ///   - description: the pipeline, in `gst-launch-1.0` syntax.
  ///   - names: names of the appsrcs, in the order of the streams.
  ///   - needsRate: true if the encoder of video stream `n` needs a frame rate.
  ///   - prepare: see ``EncodingPipeline/Contents``.
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
          sampleCount: AudioPlayer(track, source.audioLegs, isPadded: isPadded).sampleCount)
      },
      texts: zip(names.texts, subtitles).map {
        .init(
          name: $0, caps: $1.caps, disposition: $1.disposition, title: $1.tags?.streamTitle,
          comments: comments(of: $1.tags))
      },
      chapters: waveChunks.haveMarkers ? [] : Chapter.played(source.index.chapters, source.legs.all),
      waveChunks: waveChunks.chunks, comments: comments, mp4Tags: source.facts?.mp4Tags ?? [], created: created,
      tags: writtenTags,
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

  /// Warnings about details that the output does not hold.
  var unsupportedDetails: [Warning] {
    let losesAttachments = source.index.tags?.has("attachment") ?? false
    return waveChunks.warnings + loopComments.warnings + unsupportedTitles + unsupportedTags + unsupportedCovers
      + unsupportedLanguages
      + unsupportedPlays + unsupportedForced
      + (losesAttachments
        ? [Warning(.detailLeftOut, "left out: the attachments, which can't be written to any output")] : [])
  }

  /// Warnings about languages of audio and subtitles, if the container can't hold languages; and
  /// about languages with a region or script (`pt-BR`), since muxers write only the plain language
  /// (`pt`).
  private var unsupportedLanguages: [Warning] {
    if let container, !container.holdsLanguages {
      let tracks = (source.facts?.tracks ?? []).filter { $0.kind == .audio }
      let assumed = !tracks.isEmpty && tracks.allSatisfy(\.hasDefaultLanguage) ? "en" : nil
      let lost = (audio.map(\.tags) + subtitles.map(\.tags)).compactMap { $0?.language?.whole }.filter { $0 != assumed }
      guard !lost.isEmpty else { return [] }
      let what = lost.count == 1 ? "the language of a stream" : "the languages of \(lost.count) streams"
      let languages = lost.joined(separator: ", ")
      return [
        Warning(
          .detailLeftOut, "left out: \(what) (\(languages)), which this container can't hold", count: lost.count)
      ]
    }
    let all = (videos.map(\.video.tags) + audio.map(\.tags) + subtitles.map(\.tags)).compactMap { $0?.language }
      .filter { $0.plain != $0.whole }
    return all.map { language in
      Warning(
        .detailLeftOut,
        "left out: the region or script of the language \(language.whole), which becomes \(language.plain)",
        count: 1)
    }
  }

  /// Warnings about forced subtitles, if the output is MP4 or MOV, whose muxer can't mark subtitles
  /// as forced.
  private var unsupportedForced: [Warning] {
    let count = subtitles.count { $0.disposition?.isForced ?? false }
    guard count > 0, !(container?.isMatroska ?? true) else { return [] }
    return [
      Warning(
        .detailLeftOut, "left out: the “forced” flag of subtitles, which shows them even if subtitles are off",
        count: count)
    ]
  }

  /// Warning about the number of plays of an animation, if the output is a video, since a video
  /// can't store that number, or if the number is too large for the output.
  private var unsupportedPlays: [Warning] {
    guard let plays = source.index.plays, plays > 1 else { return [] }
    if let animation = container?.animation {
      guard plays > animation.mostPlays else { return [] }
      return [
        Warning(
          .converted,
          "changed: the animation plays \(animation.mostPlays) times instead of \(plays), since \(animation.name) "
            + "can't store more")
      ]
    }
    return [Warning(.detailLeftOut, "left out: the number of times that the animation plays (\(plays))", count: 1)]
  }

  private var unsupportedCovers: [Warning] {
    let count = source.index.tags?.count(of: "image") ?? 0
    let most = mostCovers ?? container?.mostCovers ?? 0
    guard count > most else { return [] }
    let what =
      most == 0
      ? "the cover art, which this container can't hold"
      : "\(count - most) of \(count) cover pictures: the output can hold only \(most)"
    return [Warning(.detailLeftOut, "left out: \(what)", count: count - most)]
  }

  /// Warning about stream titles, if there are several streams and the container can't hold titles.
  private var unsupportedTitles: [Warning] {
    let tags = videos.map(\.video.tags) + audio.map(\.tags) + subtitles.map(\.tags)
    // Ogg stores the titles of audio streams.
    let held = container?.isOgg ?? false ? audio.compactMap { $0.tags?.streamTitle } : []
    let count = tags.count { $0?.streamTitle.map { !held.contains($0) } ?? false }
    guard count > 0, tags.count > 1, !(container?.holdsTitles ?? false) else { return [] }
    return [Warning(Warning.noTitles.code, Warning.noTitles.message, count: count)]
  }
}

extension VideoSource {
  /// Returns the caps of the frames for an encoder, with the field order. Encoders read the field
  /// order only from the caps, and ignore the flags of each frame (`gst_x264_enc_init_encoder`).
  func encodedCaps(isBackward: Bool) -> Caps {
    var caps = caps
    if caps.isInterlaced, caps.string("field-order") == nil, let isTopFieldFirst {
      caps = caps.setting("field-order", "(string)\(isTopFieldFirst ? "top" : "bottom")-field-first")
    }
    return isBackward ? caps.mirroredFields : caps
  }
}

extension TagList {
  /// Language of a stream (BCP 47), as stored (`whole`, such as `zh-Hans`) and without region and
  /// script (`plain`, such as `zh`); nil if undefined.
  var language: (whole: String, plain: String)? {
    string("language-code").flatMap { code in
      ["und", ""].contains(code) ? nil : (code, code.split(separator: "-").first.map(String.init) ?? code)
    }
  }

  /// The tags, with ``language`` replaced by its plain form, which muxers know. An undefined
  /// language is removed, because FLAC and Ogg would get it as a tag.
  var withPlainLanguage: TagList {
    guard let language else { return removing(["language-code"]) }
    guard language.plain != language.whole, let tag = TagList(language: language.plain) else { return self }
    return tag.merging(self)
  }

  /// Title of a stream; nil if there is none, or only the default that matroskamux writes
  /// (`gst_matroska_mux_request_new_pad`).
  var streamTitle: String? {
    string("title").flatMap { ["Video", "Audio", "Subtitle"].contains($0) ? nil : $0 }
  }
}
