import GStreamer
import Glibc

/// Compares parts of frames with those of their source frames, for differences that the likeness of whole
/// frames hides.
///
/// Lossy codecs keep the mean of a square of pixels to a few levels of 255, wherever it lies, and on average
/// they make nothing lighter or darker.
struct PictureComparison {
  /// Findings of one plane.
  struct Plane {
    /// How many squares differ by so many levels.
    var differences = [Int](repeating: 0, count: 256)
    /// The square that is farthest from the levels of its source square and the eight around that, in levels:
    /// codecs blur and move edges, and make no level that is not there.
    var worst = (difference: 0.0, frame: 0, x: 0, y: 0)
    /// Differences by the squares' level in the source, in steps of about the same level: the number of
    /// squares, and the sum of their differences in sixteenths.
    var byLevel = [(count: Int, sum: Int)](repeating: (0, 0), count: 16)
    /// The largest mean difference of a frame, in levels.
    var worstFrame = (difference: 0.0, frame: 0)

    var count: Int { differences.reduce(0, +) }

    /// Largest difference of nine of ten squares, in levels.
    var usual: Int {
      let (count, differences) = (count, differences)
      var below = 0
      for (level, own) in differences.enumerated() {
        below += own
        if below * 10 >= count * 9 { return level }
      }
      return 0
    }

    /// The mean difference of all, in levels.
    var mean: Double {
      let sum = byLevel.reduce(0) { $0 + $1.sum }
      return count > 0 ? Double(sum) / Double(count) / 16 : 0
    }

    /// The largest mean difference of the squares of one level, if there are enough of them to tell.
    var worstLevel: Double {
      let least = max(count / 50, 200)
      return byLevel.filter { $0.count >= least }.map { Double($0.sum) / Double($0.count) / 16 }
        .max { abs($0) < abs($1) } ?? mean
    }
  }

  /// True if the planes are those of GBR.
  var isRGB = false
  /// Brightness, then the two of colour; or green, blue and red. Transparency comes last.
  private(set) var planes = [Plane](repeating: Plane(), count: 4)

  /// Sums of the colourfulness of all squares, in the source and in the mirror: the largest of green, blue and red, less the
  /// smallest.
  private(set) var colourfulness = (own: 0, other: 0)

  /// Colourfulness of the mirror as a share of the source's; nil if that is grey.
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
    var sum = 0
    for place in 0..<count {
      let level = Int(own.values[place])
      let difference = Int(other.values[place]) - level
      sum += difference
      let size = abs(difference)
      plane.differences[min(size >> 4, 255)] += 1
      plane.byLevel[min(level >> 8, 15)].count += 1
      plane.byLevel[min(level >> 8, 15)].sum += difference
      if size > worst.difference, size > Int(plane.worst.difference * 16) {
        let levels = own.levels(around: place)
        let beyond = max(level + difference - Int(levels.upperBound), Int(levels.lowerBound) - level - difference, 0)
        if beyond > worst.difference { worst = (beyond, place) }
      }
    }
    if Double(worst.difference) / 16 > plane.worst.difference {
      plane.worst = (
        Double(worst.difference) / 16, frame, worst.place % own.columns * PlaneMeans.side,
        worst.place / own.columns * PlaneMeans.side
      )
    }
    let mean = Double(sum) / Double(count) / 16
    if abs(mean) > abs(plane.worstFrame.difference) { plane.worstFrame = (mean, frame) }
  }
}
