/// Blocks of short FLAC audio: at least two (`Quirk.flacencSingleBlock`).
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
