public import FoundationEssentials
public import RetrogradeEngine

extension Player {
  /// A file by URL; otherwise as with a path.
  public convenience init(
    _ input: URL, playback: PlaybackOptions = PlaybackOptions(), isEndless: Bool = false,
    resources: Resources = Resources(), videoSink: String? = nil, audioSink: String? = nil
  ) {
    let path = input.isFileURL ? Address.decoded(input.absoluteURL.path(percentEncoded: true)[...]) : nil
    self.init(
      path ?? input.absoluteString, playback: playback,
      isEndless: isEndless, resources: resources, videoSink: videoSink, audioSink: audioSink)
  }
}
