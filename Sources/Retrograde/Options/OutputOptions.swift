/// Options of writing the output and its side files.
public struct OutputOptions: Sendable, Codable {
  /// True if an existing output may be replaced.
  public var overwrites: Bool
  /// True if the reversal fails, with an error of code `damagedInput`, when the mirror (the
  /// reversed file) would lack a detail of the source. If false, a ``Warning`` reports the detail.
  public var isStrict: Bool
  /// True to compare the finished mirror (the reversed file) with its source before the mirror gets
  /// its file name. If the mirror differs, it is discarded.
  public var isVerified: Bool
  /// Path of a separate .srt or .vtt file for the mirrored text subtitles; nil: none.
  public var subtitles: String?
  /// Video service, or other destination, whose limits the output must meet; nil: none. Set by a
  /// ``Preset``.
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
