import GStreamer

extension Planner {
  /// - Parameter isLeast: true if frames may take more than `frameBytes`.
  /// - Throws: ``RetrogradeError`` of code `usage` if the budget is too small for two frames.
  package init(_ resources: Resources, frameBytes: Int, isLeast: Bool = false) throws {
    self.init(
      budget: resources.memory.bytes, frameBytes: frameBytes, spoolRoom: Spool.room(in: resources.spoolDirectory))
    guard framesPerWindow >= 1 else {
      // Rounded up, so that the printed budget is enough.
      let (need, unit) = (smallestBudget * resources.shares, 1 << 20)
      let least = ByteCount((need + unit - 1) / unit * unit)
      throw RetrogradeError(
        .usage,
        "a frame of this video takes \(isLeast ? "at least " : "")\(ByteCount(frameBytes)) of memory"
          + (resources.shares > 1 ? ", and \(resources.shares) readers work at once and share \(setting: .memory)" : "")
          + "; \(setting: .memory) must be at least \(least)")
    }
  }

  /// Throws an error if the budget has no room for two huge frames, even at one byte per pixel. A
  /// few bytes of a file can declare a huge frame, and a decoder would allocate memory for it.
  ///
  /// Only the frame size from a parser counts, because the container may state a wrong size.
  /// Smaller frames are checked by ``init(_:frameBytes:isLeast:)``, which knows the exact size.
  static func refuseHugeFrames(of packets: Caps?, _ resources: Resources) throws {
    // pngparse does not set the caps field `parsed`.
    guard let packets, packets.has("parsed") || packets.mediaType == "image/png",
      let width = packets.int("width"), let height = packets.int("height"), width * height > hugePixelCount
    else { return }
    _ = try Planner(resources, frameBytes: width * height, isLeast: true)
  }

  /// Number of pixels of an 8192x8192 frame. Smaller frames are not checked here, because a decoder
  /// needs at most eight bytes for each pixel (512 MiB in all).
  private static let hugePixelCount = 1 << 26
}
