/// Options of writing the output, and the files beside it.
public struct OutputOptions: Sendable, Codable {
  /// Whether an existing output may be replaced.
  public var overwrites: Bool
  /// Whether everything that the mirror would lack is an error of code `damagedInput` rather than a ``Warning``.
  public var isStrict: Bool
  /// Whether the finished mirror is compared with its source before it gets its name; one that differs never gets it.
  public var isVerified: Bool
  /// Path of the mirrored subtitles of text, a file of their own, .srt or .vtt; nil: none is written.
  public var subtitles: String?
  /// Place that the output is made for; nil: any. A ``Preset`` sets it.
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
