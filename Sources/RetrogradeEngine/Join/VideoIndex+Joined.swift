import MediaTime

extension VideoIndex {
  /// Creates the index of videos that are played in sequence. The index has only frame times,
  /// durations and average sizes, because each video is read with its own index.
  init(_ parts: [VideoPart]) {
    let packets = parts.flatMap { part in
      let (video, timeline) = (part.video.video, part.video.timeline)
      let bytes = video.bytes / max(timeline.count, 1)
      return timeline.starts.indices.map { number in
        let span = timeline.span(of: number)
        return VideoPacket(
          time: span.start + part.offset, duration: span.duration, isKeyframe: number == 0, bytes: bytes,
          isHidden: false)
      }
    }
    let first = parts[0].video.video
    self.init(caps: first.caps, tags: first.tags, packets: packets, segmentEnd: nil, declaresDurations: true)
    disposition = first.disposition
  }
}
