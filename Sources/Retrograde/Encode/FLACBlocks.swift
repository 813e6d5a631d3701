/// How audio is shared out over blocks of FLAC.
///
/// Of audio that is one block flacenc 1.22 says where it ends before it says what it is (a segment before its caps), and nothing
/// behind `encodebin` takes that: the file has no audio.
enum FLACBlocks {
  /// The fewest sample frames that make two blocks: the smallest that flacenc knows has 16.
  static let fewestSamples = 17
  /// The sample frames of flacenc's own blocks.
  private static let usual = 4608

  /// The sample frames of blocks of which there are two at the least; nil where that is so anyway.
  static func size(for samples: Int) -> Int? {
    samples > usual ? nil : max(fewestSamples - 1, samples / 2)
  }
}
