extension Array {
  /// How many of the first elements fulfil what none fulfils that follows them.
  package func endOfPrefix(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
