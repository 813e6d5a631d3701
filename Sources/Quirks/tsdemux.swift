extension Quirk {
  package static let tsdemuxEarlyAudio = Quirk(
    "tsdemux-early-audio", element: "tsdemux", releases: .all,
    symptom: """
      The segment of all streams begins with the first packet that it gives out. If that is a frame of video, audio \
      that is heard before it is clipped.
      """,
    upstream: "`calculate_and_push_newsegment`",
    workaround: "The first segment of the audio begins at 0.")

  package static let tsdemuxClockGap = Quirk(
    "tsdemux-clock-gap", element: "tsdemux", releases: .all,
    symptom: """
      It takes half a second without a clock reference (PCR) for a jump of time: the frames after that get times \
      before those of the frames already shown.
      """,
    upstream: "`record_pcr` in mpegtspacketizer.c",
    workaround: """
      If the times of the packets show no jump, it reads references that are all the same (`TransportClock`).
      """)

  package static let tsdemuxRepeatedPacket = Quirk(
    "tsdemux-repeated-packet", element: "tsdemux", releases: .all,
    symptom: """
      It takes a packet that is sent twice, which ISO/IEC 13818-1, 2.4.3.3 allows, for a gap, and drops the frame that \
      it belongs to.
      """,
    upstream: "`gst_ts_demux_queue_data`",
    workaround: "None; the frame is counted as missing.")

  package static let tsdemuxSeekTimes = Quirk(
    "tsdemux-seek-times", element: "tsdemux", releases: .all,
    symptom: """
      After a seek to a time before the first frame, the segment begins with that frame, but at the time that was \
      asked for: all frames are too early by the difference.
      """,
    upstream: "`calculate_and_push_newsegment` moves `start` and `position` of the segment, not `time`",
    workaround: """
      Packets after a seek are compared with the index, by size and time (`WindowPackets`). If they differ, frames up \
      to there are decoded from the beginning, without a seek.
      """)

  package static let tsdemuxDistantTimes = Quirk(
    "tsdemux-distant-times", element: "tsdemux", releases: .all,
    symptom: """
      A presentation time more than 5 s after the decoding time is discarded, and the decoding time taken instead: \
      video with B-frames and frames that last seconds is shown at wrong times.
      """,
    upstream: "`gst_ts_demux_record_pts`",
    workaround: "None; a warning counts the frames (`TransportScan`).")

  static let tsdemux = [
    tsdemuxEarlyAudio, tsdemuxClockGap, tsdemuxRepeatedPacket, tsdemuxSeekTimes, tsdemuxDistantTimes,
  ]
}
