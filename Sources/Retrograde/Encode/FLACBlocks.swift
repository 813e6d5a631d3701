import Quirks

/// Blocks of short FLAC audio: at least two, if flacenc loses a single one (`Quirk.flacencSingleBlock`).
enum FLACBlocks {
  /// Fewest sample frames that can be written.
  static var fewestSamples: Int { Quirk.flacencSingleBlock.applies ? smallest + 1 : 1 }
  /// Sample frames of flacenc's smallest block.
  private static let smallest = 16
  /// Sample frames of flacenc's own blocks.
  private static let usual = 4608

  /// Sample frames of blocks of which there are at least two; nil if flacenc's own will do.
  static func size(for samples: Int) -> Int? {
    guard Quirk.flacencSingleBlock.applies, samples <= usual else { return nil }
    return max(smallest, samples / 2)
  }
}
