public import RetrogradeEngine

/// Options of a reversal: the order of play, the encoding, the output, and the resources. The
/// default values equal those of the command `retrograde reverse`.
public struct ReverseOptions: Sendable, Codable {
  public var playback: PlaybackOptions
  public var encoding: EncodingOptions
  public var output: OutputOptions
  public var resources: Resources
  /// Subtitle file that is reversed with the source; nil: none.
  public var subtitles: String?
  /// File whose audio replaces the source's audio. The file is played once, forwards, from its
  /// start. nil: the source's audio.
  public var soundtrack: String?
  /// Text over every frame.
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
