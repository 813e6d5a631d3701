/// List of numbers that is printed as ranges, such as `3, 7-9`.
package struct NumberRanges {
  private let ranges: [ClosedRange<Int>]

  /// - Parameter numbers: numbers in ascending order.
  package init(_ numbers: [Int]) {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound == number - 1 {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    self.ranges = ranges
  }

  /// - Parameter most: largest number of ranges; an ellipsis stands for the remaining ranges.
  package func text(separator: String, atMost most: Int = .max) -> String {
    let words = ranges.prefix(most).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    return words.joined(separator: separator) + (ranges.count > most ? " …" : "")
  }
}
