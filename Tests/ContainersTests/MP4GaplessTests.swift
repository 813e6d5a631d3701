import Containers
import Foundation
import MediaTime
import TestSupport
import Testing

@Suite("Gapless audio in MP4") struct MP4GaplessTests {
  private func file(_ tag: [UInt8]) throws -> ContainerFacts {
    let folder = try TemporaryFolder()
    let handler = box("hdlr", big(0, 8) + Array("soun".utf8) + big(0, 13))
    let times = box("stbl", box("stts", big(0, 4) + big(1, 4) + big(198, 4) + big(1024, 4)))
    let media =
      box("mdhd", big(0, 12) + big(48_000, 4) + big(200_000 + 2624, 4) + big(0, 4)) + handler + box("minf", times)
    let movie = box("mvhd", big(0, 12) + big(600, 4) + big(2534, 4) + big(0, 80)) + box("trak", box("mdia", media))
    let tags = box("udta", box("meta", big(0, 4) + box("ilst", tag)))
    try Data(box("mdat", [0]) + box("moov", movie + tags)).write(to: URL(fileURLWithPath: folder.path("a.m4a")))
    return ContainerFacts(folder.path("a.m4a"))
  }

  @Test("priming and duration are read from the iTunSMPB tag of iTunes")
  func iTunes() throws {
    let numbers = " 00000000 00000840 00000280 0000000000030D40" + String(repeating: " 00000000", count: 8)
    let tag = box(
      "----",
      box("mean", big(0, 4) + Array("com.apple.iTunes".utf8)) + box("name", big(0, 4) + Array("iTunSMPB".utf8))
        + box("data", big(1, 4) + big(0, 4) + Array(numbers.utf8)))
    let gapless = try #require(try file(tag).gapless)
    #expect(gapless.delay == ClockTime(sampleIndex: 2112, rate: 48_000))
    #expect(gapless.duration == ClockTime(sampleIndex: 200_000, rate: 48_000))
  }

  @Test("the priming of Nero's encoder is 1600 samples plus one packet")
  func nero() throws {
    let tool = [0xA9] + Array("too".utf8)
    let data = box("data", big(1, 4) + big(0, 4) + Array("Nero AAC codec / 1.5.4.0".utf8))
    let gapless = try #require(try file(big(data.count + 8, 4) + tool + data).gapless)
    #expect(gapless.delay == ClockTime(sampleIndex: 2624, rate: 48_000))
    #expect(gapless.duration == ClockTime(sampleIndex: 200_000, rate: 48_000))
  }

  @Test("a gapless tag that declares more samples than the audio has is ignored")
  func damaged() throws {
    #expect(try file([]).gapless == nil)
    let numbers = Array(" 00000000 00000840 00000280 00000000FFFFFFFF".utf8)
    let tag = box("----", box("name", big(0, 4) + Array("iTunSMPB".utf8)) + box("data", big(1, 8) + numbers))
    #expect(try file(tag).gapless == nil)
  }
}
