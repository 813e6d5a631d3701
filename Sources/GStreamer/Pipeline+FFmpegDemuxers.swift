import Glibc
import Paths

extension Pipeline {
  /// Stops FFmpeg demuxers at the end of the file at `path` (`Quirk.avdemuxEnd`). Also applies to
  /// demuxers that are added later.
  package func endFFmpegDemuxers(withFile path: String) {
    var info = stat()
    guard stat(path.cPath, &info) == 0 else { return }
    let size = Int(info.st_size)
    @Sendable func end(_ element: Element) {
      if element.isFFmpegDemuxer { element.staticPad("sink")?.failPulls(from: size) }
    }
    elements.forEach(end)
    onElementAdded(end)
  }
}

extension Element {
  package var isFFmpegDemuxer: Bool { factoryName?.hasPrefix("avdemux_") ?? false }
}
