import GStreamer

/// What a demuxer says is not there of a stream, counted and dated: a transport stream numbers its packets.
///
/// Decoders conceal what follows from it, and say nothing.
struct StreamGaps {
  private var count = 0
  private var span: TimeSpan?

  /// - Parameter time: how far the source has been read, about.
  mutating func note(_ warning: GStreamerError, at time: ClockTime) {
    // gst_ts_demux_queue_data, 1.22.
    guard warning.element == "tsdemux", warning.message.contains("CONTINUITY") else { return }
    count += 1
    span = TimeSpan(start: span?.start ?? time, end: time)
  }

  var warnings: [Warning] {
    guard let span else { return [] }
    return [
      Warning(
        .damaged,
        "damaged: packets of the transport stream are missing in \(count == 1 ? "1 place" : "\(count) places"), between about \(span.start) and \(span.end)",
        count: count, span: span)
    ]
  }
}
