import Testing

@testable import Containers

@Suite("Pixel formats of FFV1") struct FFV1PixelFormatTests {
  /// First bytes of a Configuration Record or keyframe that FFmpeg 5.1 wrote, and the expected
  /// pixel format.
  struct Sample: Sendable {
    let hexadecimal: String
    let depth: Int
    let channels: String
    let name: String?

    var bytes: [UInt8] {
      let digits = Array(hexadecimal)
      return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    }
  }

  private static let records = [
    Sample(
      hexadecimal: "562b83f11b9d537eb6fe15c25d9cd3e7e25e3af1", depth: 8, channels: "grey with transparency", name: nil),
    Sample(hexadecimal: "562b886109e645ac3a2c22a31b6d76bc04102530", depth: 8, channels: "4:4:0", name: nil),
    Sample(
      hexadecimal: "5619e8908dfcfcbc1b4933aeeebaaabe852a4efb", depth: 8, channels: "RGB with transparency", name: "BGRA"
    ),
    Sample(hexadecimal: "562b86737f5ebeb8d226212d5a8e72dd00185e16", depth: 8, channels: "4:1:0", name: "YUV9"),
    Sample(
      hexadecimal: """
        56061e2ffdb846d7709730018601eee11ce6bd454db5382774d82e107d75c5aae33d602cd88683fe5b47b10fc55ef17bff81\
        78b57dc1212221be19c651d9310f08b67f7ab2c9dcca599ec7ddfde33307c787ddee7487e265c4fbfcd4c01ccd25e4684ad7\
        0edf1a5235be5667fe306fbe96c56002384c2e17c2334d3d63a079d1300a50489dbab46ddf204ce365a7a2219de799321bdd\
        ca2d78c4cc1a417db186ca434aee79561be8470d3870bdf17e4d0ba8f7b1726e31514b71ca240b006f98aa01e67b1d63d278
        """, depth: 10, channels: "grey", name: "GRAY10_LE16"),
    Sample(
      hexadecimal: """
        56061e2ffdb846d7709730018601eee11ce6bd454db5382774d82e107d75c5aae33d602cd88683fe5b47b10fc55ef17bff81\
        78b57dc1212221be19c651d9310f08b67f7ab2c9dcca599ec7ddfde33307c787ddee7487e265c4fbfcd4c01ccd25e4684ad7\
        0edf1a5235be5667fe306fbe96c56002384c2e17c2334d3d63a079d1300a50489dbab46ddf204ce365a7a2219de799321bdc\
        a28a9ca17ca675b79437754dfaf68d33316bd13a8b1620a76b9d732ff5eed7579f836a0e35f1086ec4d867ff31d5986192f6
        """, depth: 14, channels: "RGB", name: nil),
  ]
  private static let keyframes = [
    Sample(hexadecimal: "f5eb3e6b0375d95108687271417f4ea0870e00d2", depth: 8, channels: "4:2:2", name: "Y42B"),
    Sample(
      hexadecimal: """
        89375d2074906d7640e9ae3a38dd07acb806161ee22d5606892adbd8aff6042e6eed96633d37a49d4475a937b44a972fcb66\
        b5ec99612a0f39be54c59083de0bd9273072c3e40b17e91ccad2ec8910f73d71a24fcb2396793ebebaf0886280408cae255a\
        f848656248fa0f26eb3ab9e3c098d64c81408177b9360e1ea6ec1ceba27106f50b030c50a66d49643e6f428635122e7137e1\
        2de32b3c6f9f9a6e1d240771d313f43c9261993264b6ad8c48810da50d178e90d99a46e5a039a80c7458e4c3807d8ca92635
        """, depth: 9, channels: "4:4:4", name: nil),
  ]

  @Test("the pixel format is read from the Configuration Record", arguments: records)
  func configuration(_ sample: Sample) throws { try expect(sample, configuration: sample.bytes, packet: [0x80, 0]) }

  @Test("in FFV1 versions 0 and 1, the pixel format is read from the first keyframe", arguments: keyframes)
  func keyframe(_ sample: Sample) throws { try expect(sample, configuration: nil, packet: sample.bytes) }

  private func expect(_ sample: Sample, configuration: [UInt8]?, packet: [UInt8]) throws {
    let format = try #require(
      packet.withUnsafeBytes { FFV1PixelFormat(configuration: configuration, firstPacket: $0) })
    #expect((format.depth, format.channels) == (sample.depth, sample.channels))
    #expect(format.name == sample.name)
  }

  @Test("no pixel format is read from a packet that is not a keyframe")
  func nonKeyframes() {
    for packet: [UInt8] in [[], [0], [0x7F, 0x7F, 255], [0, 0, 0, 0]] {
      #expect(packet.withUnsafeBytes { FFV1PixelFormat(configuration: nil, firstPacket: $0) } == nil)
    }
  }
}
