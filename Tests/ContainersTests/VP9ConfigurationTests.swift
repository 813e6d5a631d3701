import Testing

@testable import Containers

/// VP9 configuration in MP4.
@Suite struct VP9ConfigurationTests {
  /// A sample description written by mp4mux 1.22: profile 0, level 1, 8-bit 4:2:0.
  private var description: [UInt8] {
    let box = Box.full("vpcC", version: 1, [0, 10, 0x82, 1, 1, 1, 0, 0])
    return .zeros(4) + .big(UInt32(1)) + Box.bytes("vp09", .zeros(78), box)
  }

  @Test("the level is written into the description")
  func writtenLevel() throws {
    let named = VP9Configuration.description(description, ofLevel: 41)
    #expect(VP9Configuration(named)?.codecs == "vp09.00.41.08")
    #expect(VP9Configuration(description)?.codecs == "vp09.00.10.08")
    #expect(zip(description, named).count { $0 != $1 } == 1 && named.count == description.count)
  }

  @Test("a truncated description is left unchanged", arguments: 0..<120)
  func truncatedDescription(_ length: Int) {
    let whole = description
    guard length < whole.count else { return }
    let cut = Array(whole.prefix(length))
    #expect(VP9Configuration(cut) == nil)
    #expect(VP9Configuration.description(cut, ofLevel: 41) == cut)
  }

  /// The examples in https://www.webmproject.org/vp9/levels/
  @Test(
    "the level is the lowest one that allows the video",
    arguments: [
      (256, 144, 15.0, 10), (384, 192, 30, 11), (480, 256, 30, 20), (640, 384, 30, 21), (1080, 512, 30, 30),
      (1280, 768, 30, 31), (2048, 1088, 30, 40), (2048, 1088, 60, 41), (4096, 2176, 30, 50), (4096, 2176, 60, 51),
      (4096, 2176, 120, 52), (8192, 4352, 60, 61), (8192, 4352, 120, 62), (9000, 16, 1, 60),
    ])
  func lowestLevel(_ width: Int, _ height: Int, _ rate: Double, _ level: UInt8) {
    #expect(VP9Configuration.level(width: width, height: height, rate: rate) == level)
  }
}
