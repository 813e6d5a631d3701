package import MediaTime

extension SourceIndex {
  private var videos: [VideoIndex] { [video].compactMap { $0 } + furtherVideos.map(\.index) }

  package var presentationStart: ClockTime {
    part?.start ?? (videos.compactMap(\.firstTime) + audio.map(\.span.start)).min() ?? .zero
  }

  /// Latest end of any stream, computed from the packets.
  package var presentationEnd: ClockTime {
    let ends = videos.compactMap { video in video.lastTime.map { video.end(afterLast: [$0]) } }
    return (ends + audio.map(\.span.end)).max() ?? .zero
  }
}

extension VideoIndex {
  /// Start of the first frame, computed from the packets that have timestamps.
  fileprivate var firstTime: ClockTime? { starts?.first ?? packets.compactMap(\.time).min() }
  fileprivate var lastTime: ClockTime? { starts?.last ?? packets.compactMap(\.time).max() }
}
