import GStreamer
import MediaTime
import Quirks
import Testing

@Suite("Quirks of the timestampers") struct TimestamperTests {
  @Test("encodebin replaces the DTS of variable-rate video")
  func variableRate() throws {
    try expect(.h264timestamperVariableRate) {
      let settings = ["bframes=3", "b-pyramid=true"]
      let properties = "element-properties,speed-preset=1,\(settings.joined(separator: ","))"
      let profile = "video/x-h264|variable-framerate=true|\(properties)"
      let own = try times("x264enc speed-preset=ultrafast \(settings.joined(separator: " "))")
      let made = try times("encodebin profile=\"\(profile)\"")
      try #require(own.count == 30 && made.count == 30)
      return own != made
    }
  }

  /// Returns PTS and DTS of each packet.
  private func times(_ encoder: String) throws -> [[ClockTime?]] {
    try variableRatePackets(encoder).map { [$0.pts, $0.dts] }
  }
}
