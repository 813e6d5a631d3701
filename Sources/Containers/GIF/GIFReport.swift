extension ContainerReport {
  /// Report of the missing part of a GIF that is not whole; nil of a whole one: it does not say how many
  /// images it has.
  init?(_ blocks: GIFBlocks) {
    guard !blocks.isWhole else { return nil }
    self.init(isCut: blocks.brokenAt == nil)
    guard let place = blocks.brokenAt else { return }
    brokenAt = place
    streams = [Stream(kind: .video, frames: blocks.images + blocks.further, end: nil)]
  }
}
