import GStreamer
import Glibc

/// Compares blocks of pixels in a mirror's frames with the same blocks of the source frames, to
/// find differences that the likeness of complete frames hides.
///
/// A good lossy codec changes the mean of a block by a few 8-bit levels at most, and does not
/// change the average brightness.
struct PictureComparison {
  /// Differences found in one plane (luma, a chroma, or transparency).
  struct Plane {
    /// Number of blocks for each absolute difference of means. The index is the difference in 8-bit
    /// levels.
    var differences = [Int](repeating: 0, count: 256)
    /// Block whose mean is farthest outside the range of nine means: those of its source block and
    /// of the eight blocks around the source block. `difference` is the distance from this range in
    /// 8-bit levels. Edges that a codec blurred or shifted thus cause no difference.
    var worst = (difference: 0.0, frame: 0, x: 0, y: 0)
    /// Differences by level: for each of 16 ranges of the source block's level, the number of
    /// blocks, and the sum of their differences in sixteenths of a level.
    var byLevel = [(count: Int, sum: Int)](repeating: (0, 0), count: 16)
    /// Part of `differences` that comes from the frame of `worst`; empty before the first frame.
    var differencesInWorst: [Int] = []
    /// Largest mean difference of all blocks of one frame, in 8-bit levels, and the number of the
    /// frame.
    var worstFrame = (difference: 0.0, frame: 0)

    var count: Int { differences.reduce(0, +) }

    /// Returns the difference that 90 % of the blocks do not exceed, in 8-bit levels. Ignores the
    /// frame of `worst` if there are other frames, so that a wrong frame can't raise its own limit.
    /// - Parameter identical: number of frames without differences, which were not added.
    func usual(identical: Int) -> Int {
      let blocks = differencesInWorst.reduce(0, +)
      var others = zip(differences, differencesInWorst).map { $0 - $1 }
      guard !others.isEmpty else { return 0 }
      others[0] += identical * blocks
      var count = others.reduce(0, +)
      if count == 0 { (others, count) = (differencesInWorst, blocks) }
      var below = 0
      for (level, own) in others.enumerated() {
        below += own
        if below * 10 >= count * 9 { return level }
      }
      return 0
    }

    /// Mean difference of all blocks, in 8-bit levels.
    var mean: Double {
      let sum = byLevel.reduce(0) { $0 + $1.sum }
      return count > 0 ? Double(sum) / Double(count) / 16 : 0
    }

    /// Largest mean difference of the blocks in one range of ``byLevel``, in 8-bit levels. Ignores
    /// ranges with few blocks.
    var worstLevel: Double {
      let least = max(count / 50, 200)
      return byLevel.filter { $0.count >= least }.map { Double($0.sum) / Double($0.count) / 16 }
        .max { abs($0) < abs($1) } ?? mean
    }
  }

  /// True if the planes are green, blue and red; false for luma and chroma.
  var isRGB = false
  /// Planes: luma and two chroma planes, or green, blue and red; then transparency.
  private(set) var planes = [Plane](repeating: Plane(), count: 4)

  /// Sums of the colourfulness of all blocks, in the source and in the mirror, for RGB. The
  /// colourfulness of a block is the difference between the largest and the smallest of its green,
  /// blue and red.
  private(set) var colourfulness = (own: 0, other: 0)

  /// Ratio of the mirror's colourfulness to the source's; nil if the source is nearly grey, or the
  /// planes are not RGB.
  var keptColour: Double? {
    guard isRGB, colourfulness.own > 16 * planes[0].count else { return nil }
    return Double(colourfulness.other) / Double(colourfulness.own)
  }

  private static func colourfulness(_ planes: [PlaneMeans]) -> Int {
    let colours = planes.prefix(3).map(\.values)
    guard colours.count == 3 else { return 0 }
    return (0..<(colours.map(\.count).min() ?? 0)).reduce(0) { sum, place in
      let values = colours.map { Int($0[place]) }
      return sum + (values.max() ?? 0) - (values.min() ?? 0)
    }
  }

  mutating func add(_ own: [PlaneMeans], _ other: [PlaneMeans], frame: Int) {
    if isRGB {
      colourfulness.own += PictureComparison.colourfulness(own)
      colourfulness.other += PictureComparison.colourfulness(other)
    }
    for index in planes.indices where index < own.count && index < other.count {
      add(own[index], other[index], frame, to: &planes[index])
    }
  }

  private func add(_ own: PlaneMeans, _ other: PlaneMeans, _ frame: Int, to plane: inout Plane) {
    let count = min(own.values.count, other.values.count)
    guard count > 0 else { return }
    var worst = (difference: 0, place: 0)
    var differences = [Int](repeating: 0, count: plane.differences.count)
    var sum = 0
    for place in 0..<count {
      let level = Int(own.values[place])
      let difference = Int(other.values[place]) - level
      sum += difference
      let size = abs(difference)
      differences[min(size >> 4, 255)] += 1
      plane.byLevel[min(level >> 8, 15)].count += 1
      plane.byLevel[min(level >> 8, 15)].sum += difference
      if size > worst.difference, size > Int(plane.worst.difference * 16) {
        let levels = own.levels(around: place)
        let beyond = max(level + difference - Int(levels.upperBound), Int(levels.lowerBound) - level - difference, 0)
        if beyond > worst.difference { worst = (beyond, place) }
      }
    }
    for (level, blocks) in differences.enumerated() { plane.differences[level] += blocks }
    if Double(worst.difference) / 16 > plane.worst.difference || plane.differencesInWorst.isEmpty {
      plane.differencesInWorst = differences
      plane.worst = (
        Double(worst.difference) / 16, frame, worst.place % own.columns * PlaneMeans.side,
        worst.place / own.columns * PlaneMeans.side
      )
    }
    let mean = Double(sum) / Double(count) / 16
    if abs(mean) > abs(plane.worstFrame.difference) { plane.worstFrame = (mean, frame) }
  }
}
