import GStreamer
import Quirks
import RetrogradeEngine

extension EncodingChoice {
  /// Adds the form in which a track reaches its encoder, and says what that changes.
  /// - Throws: ``RetrogradeError`` of code `usage`, if nothing can be made of its channels.
  mutating func addForm(of track: AudioTrack, in codec: Codec, _ output: String) throws {
    guard let form = AudioForm(track.caps, for: codec, in: container) else {
      throw RetrogradeError(
        .usage, about: output,
        "\(codec.shortName) does not take \(track.channels) channels here, and can't mix unknown loudspeakers",
        remedy: "write .wav or .mkv")
    }
    audioForms.append(form)
    if let mixed = form.mixedCaps {
      let layouts = [track.caps.layout, mixed.layout].map { $0 ?? "other channels" }
      let text: Message =
        layouts[0] == layouts[1] || mixed.int("channels") == track.channels
        ? "changed: \(layouts[0]) audio is mixed for \(codec.shortName)'s loudspeakers, which differ from the source's"
        : "changed: \(layouts[0]) audio is mixed to \(layouts[1]): \(codec.shortName) takes no more channels here"
      warnings.append(Warning(.converted, text))
    }
    if let rate = form.rate {
      changes.append(
        CodecChange(
          kind: .audio, source: EncodingChoice.kilohertz(track.rate), output: EncodingChoice.kilohertz(rate),
          reason: "\(codec.shortName) does not take the source's rate here"))
    }
  }

  /// Refuses audio that is too short for its encoder.
  /// - Parameters:
  ///   - samples: sample frames; nil if their number is not known.
  ///   - rate: theirs, in Hz.
  /// - Throws: ``RetrogradeError`` of code `usage`.
  func checkLength(of samples: Int?, _ rate: Int, in codec: Codec, _ output: String) throws {
    let fewest =
      switch codec.encoder {
      case "flacenc" where container.caps == nil: FLACBlocks.fewestSamples
      // More than a packet, as it may lose a sample where its rate is changed.
      case "opusenc" where Quirk.opusencShortAudio.applies: rate / 50 + (48_000 % rate == 0 ? 0 : 2)
      default: 1
      }
    guard let samples, samples > 0, samples < fewest else { return }
    throw RetrogradeError(
      .usage, about: output, "\(codec.shortName) needs at least \(fewest) samples here, and there are \(samples)",
      remedy: "write .wav, or .mkv with --audio-codec flac")
  }

  private static func kilohertz(_ rate: Int) -> String {
    Caps("audio/x-raw,rate=\(rate)")?.summary.first ?? "\(rate) Hz"
  }
}

extension Caps {
  /// Channels in a word, such as `5.1`.
  fileprivate var layout: String? { has("channels") ? summary.last : nil }
}
