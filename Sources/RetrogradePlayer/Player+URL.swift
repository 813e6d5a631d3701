public import FoundationEssentials
public import RetrogradeEngine

extension Player {
  /// A file by URL; otherwise as with a path.
  public convenience init(
    _ input: URL, playback: PlaybackOptions = PlaybackOptions(), isEndless: Bool = false,
    resources: Resources = Resources(), videoSink: String? = nil, audioSink: String? = nil
  ) {
    self.init(
      input.isFileURL ? input.absoluteURL.path(percentEncoded: false) : input.absoluteString, playback: playback,
      isEndless: isEndless, resources: resources, videoSink: videoSink, audioSink: audioSink)
  }
}
