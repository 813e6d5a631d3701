extension Array {
  /// Length of the longest prefix of elements that fulfil `belongs`, which no later element does.
  package func endOfPrefix(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
