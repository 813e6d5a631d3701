extension ContainerReport {
  /// Creates the report of an incomplete GIF; nil for a complete GIF, because the format does not
  /// declare the number of images.
  init?(_ blocks: GIFBlocks) {
    guard !blocks.isWhole else { return nil }
    self.init(isCut: blocks.brokenAt == nil)
    guard let place = blocks.brokenAt else { return }
    brokenAt = place
    streams = [Stream(kind: .video, frames: blocks.images + blocks.further, end: nil)]
  }
}
