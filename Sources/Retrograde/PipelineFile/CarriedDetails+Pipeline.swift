import GStreamer
import RetrogradeEngine

extension CarriedDetails {
  /// - Parameters:
  ///   - names: names of the audio appsrcs, in the order of the source's audio streams.
  ///   - pipeline: the user's pipeline that writes the output; nil if it could not be built.
  init(_ source: PlayableSource, _ playback: PlaybackOptions, _ names: [String], writtenBy pipeline: Pipeline?) {
    let first = names.first.flatMap { pipeline?.element($0) }
    self.init(
      source: source, playback: playback, container: pipeline.flatMap(Container.written), videos: source.videos,
      audio: source.audio, isResampled: zip([first].compactMap { $0 }, source.audio).contains { $0.resamples($1) },
      isPadded: pipeline?.needsAudioFromStart ?? true)
  }
}

extension Element {
  /// True if a downstream element needs a different sample rate than the track's.
  fileprivate func resamples(_ track: AudioTrack) -> Bool {
    downstream.contains { element in
      // Opus always counts samples at 48 kHz, so `opusenc` resamples all other rates.
      if element.factoryName == "opusenc" { return track.rate != 48_000 }
      let rate = element.factoryName == "capsfilter" ? element.string("caps").flatMap { Caps($0)?.int("rate") } : nil
      return rate.map { $0 != track.rate } ?? false
    }
  }
}

extension Pipeline {
  /// Returns true if the video of the appsrc `name` is encoded as HEVC.
  func encodesHEVC(_ name: String) -> Bool {
    guard let hevc = Caps("video/x-h265") else { return false }
    return element(name)?.downstream.contains {
      $0.isOfClass("Encoder") && $0.staticPad("src")?.possibleCaps?.intersects(hevc) ?? false
    } ?? false
  }

  /// Returns true if the video of the appsrc `name` is deinterlaced.
  func deinterlaces(_ name: String) -> Bool {
    element(name)?.downstream.contains { $0.factoryName == "deinterlace" } ?? false
  }

  /// True if the output stores no timestamps for audio. Audio then starts at the beginning of the
  /// file, so late audio must be padded with silence.
  var needsAudioFromStart: Bool {
    let untimed: Set = ["avimux", "oggmux", "wavenc"]
    return !elements(ofClass: "Muxer").contains { !($0.factoryName.map(untimed.contains) ?? true) }
      && !elements(ofClass: "Sink").contains {
        ($0.factoryName ?? "").contains("mux") || ($0.factoryName ?? "").hasPrefix("hls")
      }
  }
}

extension ResolvedPipelines {
  /// Returns `streams` in the order of the output's tracks, which is the order of the appsrcs in
  /// the encoding half of the pipeline file.
  func inOrder<Track>(_ streams: [(name: String, track: Track)]) -> [(name: String, track: Track)] {
    let words = DescriptionWords.all(in: encoding)
    func place(_ name: String) -> Int {
      words.firstIndex { $0 == "name=\(name)" || $0 == "name=\"\(name)\"" } ?? words.count
    }
    return streams.sorted { place($0.name) < place($1.name) }
  }
}
