public import FoundationEssentials
public import RetrogradeEngine

extension Player {
  /// A file by URL; otherwise as with a path.
  public convenience init(
    _ input: URL, options: ReverseOptions = ReverseOptions(), isEndless: Bool = false, videoSink: String? = nil,
    audioSink: String? = nil
  ) {
    self.init(
      input.isFileURL ? input.absoluteURL.path(percentEncoded: false) : input.absoluteString, options: options,
      isEndless: isEndless, videoSink: videoSink, audioSink: audioSink)
  }
}
