extension Planner {
  /// - Throws: ``RetrogradeError`` of code `usage` if the budget is too small for two frames.
  package init(_ resources: Resources, frameBytes: Int) throws {
    self.init(
      budget: resources.memory.bytes, frameBytes: frameBytes, spoolRoom: Spool.room(in: resources.spoolDirectory))
    guard framesPerWindow >= 1 else {
      // Rounded up, so that the printed budget is enough.
      let (need, unit) = (smallestBudget * resources.shares, 1 << 20)
      let least = ByteCount((need + unit - 1) / unit * unit)
      throw RetrogradeError(
        .usage,
        "a frame of this video takes \(ByteCount(frameBytes))"
          + (resources.shares > 1 ? ", and \(resources.shares) such readers share the memory" : "")
          + ": the memory budget (\(setting: .memory)) must be at least "
          + "\(least)")
    }
  }
}
