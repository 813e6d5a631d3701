/// Options of writing the output and its side files.
public struct OutputOptions: Sendable, Codable {
  /// True if an existing output may be replaced.
  public var overwrites: Bool
  /// True if a detail that the mirror would lack is an error of code `damagedInput` instead of a
  /// ``Warning``.
  public var isStrict: Bool
  /// True to compare the finished mirror with its source before it is renamed. A mirror that
  /// differs is discarded.
  public var isVerified: Bool
  /// Path of a separate file, .srt or .vtt, for the mirrored text subtitles; nil: none.
  public var subtitles: String?
  /// Place that the output is made for; nil: any. Set by a ``Preset``.
  public var place: Place?

  public init(
    overwrites: Bool = false, isStrict: Bool = false, isVerified: Bool = false, subtitles: String? = nil,
    place: Place? = nil
  ) {
    self.overwrites = overwrites
    self.isStrict = isStrict
    self.isVerified = isVerified
    self.subtitles = subtitles
    self.place = place
  }
}
