import GStreamer
import MediaTime
import Quirks
import Testing

@Suite("Quirks of the timestampers") struct TimestamperTests {
  @Test("encodebin replaces the decoding times of frames at a variable rate")
  func variableRate() throws {
    try expect(.h264timestamperVariableRate) {
      let encoder = "x264enc bframes=3 b-pyramid=true speed-preset=ultrafast"
      let own = try packets(encoder)
      let made = try packets(
        "encodebin profile=\"video/x-h264|variable-framerate=true|element-properties,bframes=3,b-pyramid=true,speed-preset=1\"")
      try #require(own.count == 30 && made.count == 30)
      return own != made
    }
  }

  private struct Packet: Equatable {
    let shown: ClockTime
    let decoding: ClockTime?
  }

  /// Packets that an encoder makes of thirty frames, whose distances are 40 and 360 ms in turn.
  private func packets(_ encoder: String) throws -> [Packet] {
    let pipeline = try Pipeline(
      "appsrc name=in format=time caps=video/x-raw,format=I420,width=64,height=64,framerate=0/1 ! "
        + "\(encoder) ! appsink name=out sync=false")
    let (source, sink) = (try pipeline.appSource("in"), try pipeline.appSink("out"))
    pipeline.set(.playing)
    defer { pipeline.set(.null) }
    for number in 0..<30 {
      let frame = try Buffer(size: 64 * 64 * 3 / 2) { bytes in
        for place in bytes.indices { bytes[place] = UInt8(truncatingIfNeeded: place &* number) }
      }
      let (pair, half) = number.quotientAndRemainder(dividingBy: 2)
      let length = half == 0 ? 40 : 360
      frame.stamp(
        pts: ClockTime(nanoseconds: Int64(pair * 400 + half * 40) * 1_000_000),
        duration: ClockTime(nanoseconds: Int64(length) * 1_000_000))
      try #require(source.push(frame))
    }
    source.endOfStream()
    var packets: [Packet] = []
    while let sample = sink.pull(timeout: ClockTime(seconds: 20)) {
      packets.append(Packet(shown: try #require(sample.buffer.pts), decoding: sample.buffer.dts))
    }
    return packets
  }
}
