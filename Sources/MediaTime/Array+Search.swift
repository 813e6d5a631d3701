extension Array {
  /// Returns, by binary search, the length of the prefix whose elements satisfy `belongs`. No
  /// element after the prefix may satisfy `belongs`.
  package func endOfPrefix(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
