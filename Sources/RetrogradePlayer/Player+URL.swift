public import FoundationEssentials
public import RetrogradeEngine

extension Player {
  /// Creates a player for a file URL. The other parameters are the same as for the initializer that
  /// takes a path.
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
