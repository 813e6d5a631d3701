package import MediaTime

extension SourceIndex {
  private var videos: [VideoIndex] { [video].compactMap { $0 } + furtherVideos.map(\.index) }

  package var presentationStart: ClockTime {
    part?.start ?? (videos.compactMap(\.starts?.first) + audio.map(\.span.start)).min() ?? .zero
  }

  /// The latest end of any stream, as far as the packets tell.
  package var presentationEnd: ClockTime {
    let ends = videos.compactMap { video in
      video.starts.map { video.end(afterLast: $0) } ?? video.packets.compactMap(\.time).max()
    }
    return (ends + audio.map(\.span.end)).max() ?? .zero
  }
}
