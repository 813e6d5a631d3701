public import RetrogradeEngine

/// Options of reversing a source: the order of play, the encoding, the output, and the resources. The
/// defaults are those of `retrograde reverse`.
public struct ReverseOptions: Sendable, Codable {
  public var playback: PlaybackOptions
  public var encoding: EncodingOptions
  public var output: OutputOptions
  public var resources: Resources
  /// A file of subtitles to mirror with the source; nil: none.
  public var subtitles: String?
  /// A file whose audio is heard in place of the source's, once, forwards, from its start on; nil: the source's own.
  public var soundtrack: String?
  /// Text that is shown in every frame.
  public var lettering: Lettering

  public init(
    playback: PlaybackOptions = PlaybackOptions(), encoding: EncodingOptions = EncodingOptions(),
    output: OutputOptions = OutputOptions(), resources: Resources = Resources(), subtitles: String? = nil,
    soundtrack: String? = nil, lettering: Lettering = Lettering()
  ) {
    self.playback = playback
    self.encoding = encoding
    self.output = output
    self.resources = resources
    self.subtitles = subtitles
    self.soundtrack = soundtrack
    self.lettering = lettering
  }
}
