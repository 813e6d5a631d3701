/// How fast encoders work unless told otherwise, in their own terms.
///
/// The usual speeds are the knees of the curves in docs/quality.md, which `make quality` draws: the next
/// slower speed takes a quarter more time or more for a likeness (SSIM) that is less than 0.003 better.
/// HEVC's is the slowest that takes no longer than x264's medium, which FFmpeg uses for such a source by
/// default. VP9's is the fastest that tells apart frames that hardly move: from 5 on libvpx may give one the
/// look of its neighbour.
enum EncoderSpeed {
  private static let usual = [
    "x264enc": "superfast", "x265enc": "ultrafast", "vp9enc": "4", "vp8enc": "8", "av1enc": "7",
  ]

  /// Properties that an encoder gets at its usual speed although that speed leaves them out. x264's
  /// `superfast` neither looks ahead nor follows blocks from frame to frame, and refines motion least. With
  /// these it takes less time than `veryfast`, and comes nearer to `medium` (docs/quality.md).
  private static let additions = [
    "x264enc": [("mb-tree", "true"), ("rc-lookahead", "20"), ("subme", "2"), ("trellis", "true")]
  ]

  /// For those who ask for quality, and have time.
  private static let high = [
    "x264enc": "medium", "x265enc": "medium", "vp9enc": "4", "vp8enc": "4", "av1enc": "6",
  ]

  /// The speed of `encoder`, one of those in the tables.
  static func of(_ encoder: String, _ quality: EncodingOptions.Quality) -> String {
    (quality == .high ? high : usual)[encoder] ?? ""
  }

  /// The properties that are set beside that speed.
  static func additions(to encoder: String, _ quality: EncodingOptions.Quality) -> [(String, String)] {
    quality == .source ? additions[encoder] ?? [] : []
  }
}
