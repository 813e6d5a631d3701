extension Quirk {
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

  static let tsdemux = [tsdemuxClockGap, tsdemuxRepeatedPacket]
}
