/// Default speed presets of encoders, by factory name.
///
/// docs/quality.md has curves of quality over encoding time, which `make quality` draws. The usual
/// speeds are the knees of these curves: the next slower speed takes at least a quarter more time,
/// but improves the similarity to the source (SSIM) by less than 0.003. For HEVC, the speed is the
/// slowest that takes no longer than x264 with the preset `medium`, which is FFmpeg's default. For
/// VP9, the speed is the fastest that keeps nearly still frames distinct: from speed 5 on, libvpx
/// may make a frame look like its neighbour.
enum EncoderSpeed {
  private static let usual = [
    "x264enc": "superfast", "x265enc": "ultrafast", "vp9enc": "4", "vp8enc": "8", "av1enc": "7",
  ]

  /// Extra properties at the usual speed. x264's `superfast` has no lookahead, no macroblock tree
  /// (mb-tree), and the least motion refinement. With the extra properties, `superfast` is still
  /// faster than `veryfast`, and its quality is closer to that of `medium` (docs/quality.md).
  private static let additions = [
    "x264enc": [("mb-tree", "true"), ("rc-lookahead", "20"), ("subme", "2"), ("trellis", "true")]
  ]

  /// Speeds for `--quality high`.
  private static let high = [
    "x264enc": "medium", "x265enc": "medium", "vp9enc": "4", "vp8enc": "4", "av1enc": "6",
  ]

  /// Returns the speed of `encoder`; empty if the tables do not contain `encoder`.
  static func of(_ encoder: String, _ quality: EncodingOptions.Quality) -> String {
    (quality == .high ? high : usual)[encoder] ?? ""
  }

  /// Returns the properties to set besides the speed.
  static func additions(to encoder: String, _ quality: EncodingOptions.Quality) -> [(String, String)] {
    quality == .source ? additions[encoder] ?? [] : []
  }
}
