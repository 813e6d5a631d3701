import GStreamer
import Quirks
import RetrogradeEngine

extension EncodingChoice {
  mutating func addAudio(of streams: Streams, _ options: EncodingOptions, _ output: String) throws {
    var audio = streams.audio
    if audio.count > 1 && container.holdsOneStream {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: all audio streams but the first; this container can hold only one",
          count: audio.count - 1))
      audio = [audio[0]]
    }
    for track in audio { try add(track, streams, options, output) }
  }

  private mutating func add(
    _ track: AudioTrack, _ streams: Streams, _ options: EncodingOptions, _ output: String
  ) throws {
    let codec = try EncodingChoice.audioCodec(track, container, options, output, isAlone: videos.isEmpty)
    audioCodecs.append(codec)
    note(
      EncodingChoice.change(
        from: Codec(of: track.codec), to: codec, container, options,
        Container.fileName(output, format: options.format),
        isUntimed: container.needsAudioFromStart && !videos.isEmpty, raw: track.caps))
    if options.quality == .lossless { warnAboutRounding(of: track, in: codec) }
    try addForm(of: track, in: codec, output)
    if !container.holdsLoudspeakers(of: track, in: codec) {
      warnings.append(
        Warning(
          .detailLeftOut,
          "left out: the loudspeaker positions of the \(track.channels) audio channels, which this container can't "
            + "hold; use .wav to keep them",
          count: track.channels))
    }
    let samples = streams.audioLegs.flatMap {
      AudioPlayer(track, $0, isPadded: container.needsAudioFromStart).sampleCount
    }
    sampleCounts.append(samples)
    let settings = EncoderSettings(
      options: options, sourceBitrate: track.bitrate, frameRate: streams.frameRate)
    let form = audioForms.last
    let (rate, channels) = (form?.rate ?? track.rate, form?.mixedCaps?.int("channels") ?? track.channels)
    try checkLength(of: samples, track.rate, in: codec, output)
    let chosen = codec.encoder.map { settings.audio($0, rate: rate, channels: channels) } ?? []
    let unit = codec.encoder.flatMap(EncoderSettings.bitrateUnit) ?? 1
    audioBitrates.append(chosen.first { $0.name == "bitrate" }.flatMap { Int($0.value) }.map { $0 * unit })
    audioProfiles.append(EncodingChoice.stream(codec.text, chosen))
  }

  /// Adds the ``AudioForm`` of a track, and warnings about the conversion to that form.
  /// - Throws: ``RetrogradeError`` of code `usage` if the track's channels can't be encoded or
  ///   mixed.
  private mutating func addForm(of track: AudioTrack, in codec: Codec, _ output: String) throws {
    guard let form = AudioForm(track.caps, for: codec, in: container) else {
      throw RetrogradeError(
        .usage, about: output,
        "\(codec.shortName) does not accept \(track.channels) channels in this output, and channels with unknown "
          + "loudspeaker positions can't be mixed to fewer channels",
        remedy: "use .wav or .mkv")
    }
    audioForms.append(form)
    if let mixed = form.mixedCaps {
      let layouts = [track.caps.layout, mixed.layout].map { $0 ?? "other channels" }
      let text: Message =
        layouts[0] == layouts[1] || mixed.int("channels") == track.channels
        ? "changed: the audio (\(layouts[0])) is remixed, since \(codec.shortName) uses other loudspeaker positions"
        : "changed: the audio is mixed from \(layouts[0]) to \(layouts[1]), since \(codec.shortName) accepts no more "
          + "channels in this output"
      warnings.append(Warning(.converted, text))
    }
    if let rate = form.rate {
      changes.append(
        CodecChange(
          kind: .audio, source: EncodingChoice.kilohertz(track.rate), output: EncodingChoice.kilohertz(rate),
          reason: "the \(codec.shortName) encoder does not accept the source's sample rate"))
    }
  }

  /// Refuses audio that is too short for its encoder.
  /// - Parameters:
  ///   - samples: number of sample frames; nil if unknown.
  ///   - rate: sample rate in Hz.
  /// - Throws: ``RetrogradeError`` of code `usage`.
  private func checkLength(of samples: Int?, _ rate: Int, in codec: Codec, _ output: String) throws {
    let fewest =
      switch codec.encoder {
      case "flacenc" where container.caps == nil: FLACBlocks.fewestSamples
      // At least one packet of 20 ms is needed, plus a margin for samples that resampling may lose.
      case "opusenc" where Quirk.opusencShortAudio.applies: rate / 50 + (48_000 % rate == 0 ? 0 : 2)
      default: 1
      }
    guard let samples, samples > 0, samples < fewest else { return }
    throw RetrogradeError(
      .usage, about: output,
      "the audio is too short for \(codec.shortName) in this output: it has \(samples) samples, and at least "
        + "\(fewest) are needed",
      remedy: "use .wav, or .mkv with \(setting: .audioCodec) flac")
  }

  private static func kilohertz(_ rate: Int) -> String {
    Caps("audio/x-raw,rate=\(rate)")?.summary.first ?? "\(rate) Hz"
  }
}

extension Caps {
  /// Channel layout in a word, such as `5.1`; nil if unknown.
  fileprivate var layout: String? { has("channels") ? summary.last : nil }
}
