import Testing

@testable import Containers

@Suite struct PacketCheckTests {
  /// Returns, for each packet, the property that prevents reordering; nil for a packet that can be
  /// reordered.
  private func found(_ codec: PacketCheck.Codec, _ packets: [UInt8]...) -> [PacketCheck.Obstacle?] {
    var check = PacketCheck(codec)
    return packets.map { packet in packet.withUnsafeBytes { check.obstacle(in: $0) } }
  }

  @Test("interlaced ProRes is recognized by the frame header of each packet")
  func proResFields() {
    func frame(_ flags: UInt8) -> [UInt8] {
      [0, 0, 0, 40] + Array("icpf".utf8) + [0, 148, 0, 0] + Array("test".utf8) + [2, 128, 1, 16, flags]
        + Array(repeating: 0, count: 19)
    }
    #expect(found(.proRes, frame(0x80), frame(0x84), frame(0x88)) == [nil, .hasFields, .hasFields])
  }

  @Test("packets that are not frames of the codec are rejected")
  func foreignPackets() {
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47]
    #expect(found(.independent(beginning: png), png + [1], [1, 2, 3, 4, 5], []) == [nil, .isNoFrame, .isNoFrame])
    for codec in [
      PacketCheck.Codec.jpeg(height: nil), .proRes, .vp9, .h264(configuration: []), .h265(configuration: nil),
    ] {
      #expect(found(codec, [], [0, 0, 0, 1, 0x46, 1, 7]) == [.isNoFrame, .isNoFrame])
    }
  }

  @Test("interlaced JPEG is recognized by its APP markers")
  func jpegFieldMarkers() {
    let start: [UInt8] = [0xFF, 0xD8]
    let end: [UInt8] = [0xFF, 0xC0, 0, 4, 1, 2, 0xFF, 0xDA, 0, 4, 1, 2, 0xFF, 0xE0, 0, 7, 65, 86, 73, 49, 1]
    func avi(_ field: UInt8) -> [UInt8] { start + [0xFF, 0xFF, 0xE0, 0, 8] + Array("AVI1".utf8) + [field, 0] + end }
    func quickTime(_ next: UInt8) -> [UInt8] {
      start + [0xFF, 0xE1, 0, 42, 0, 0, 0, 0] + Array("mjpg".utf8) + [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, next]
        + Array(repeating: 0, count: 20) + end
    }
    #expect(found(.jpeg(height: nil), start + end, avi(0), avi(1), avi(2)) == [nil, nil, .hasFields, .hasFields])
    #expect(found(.jpeg(height: nil), quickTime(0), quickTime(9)) == [nil, .hasFields])
  }

  @Test("a JPEG half as high as the frame is recognized as one field of interlaced video")
  func jpegFieldHeight() {
    func image(_ lines: UInt8) -> [UInt8] { [0xFF, 0xD8, 0xFF, 0xC0, 0, 8, 8, 1, lines, 1, 96, 3, 0xFF, 0xDA, 0, 2] }
    let half = UInt8(288 - 256)
    #expect(found(.jpeg(height: 576), image(half), image(half + 100)) == [.hasFields, nil])
    #expect(found(.jpeg(height: 288), image(half)) == [nil])
  }

  @Test("JPEG whose size or pixel shape changes is recognized")
  func jpegForms() {
    func image(_ columns: UInt8, _ density: (UInt8, UInt8) = (1, 1)) -> [UInt8] {
      [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8) + [0, 1, 1, 0, 0, density.0, 0, density.1, 0, 0]
        + [0xFF, 0xC0, 0, 8, 8, 0, 48, 0, columns, 3, 0xFF, 0xDA, 0, 2]
    }
    #expect(found(.jpeg(height: nil), image(64), image(64, (2, 2)), image(32)) == [nil, nil, .changesForm])
    #expect(found(.jpeg(height: nil), image(64), image(64, (2, 1))) == [nil, .changesForm])
    // Every truncation is safe to read.
    for length in 0..<image(64).count { _ = found(.jpeg(height: nil), Array(image(64).prefix(length))) }
  }

  @Test("the first coded bit marks FFV1 keyframes")
  func ffv1Keyframes() {
    #expect(
      found(.ffv1(configuration: nil), [0x7F, 0x80, 0], [0x7F, 0x7F, 255], [0xFE, 0], [0, 0]) == [
        nil, .dependsOnOthers, nil, .dependsOnOthers,
      ])
  }

  @Test("interlaced FFV1 is recognized by its slice headers")
  func ffv1Fields() {
    // A Configuration Record written by FFmpeg 5.1: version 3, 4:2:0.
    let record: [UInt8] = [
      0x56, 0x2b, 0x84, 0xd1, 0x9c, 0x05, 0x2f, 0x41, 0x3c, 0x60, 0x26, 0xe9, 0x5c, 0x37, 0x6f, 0x5d, 0x1b, 0x76, 0x97,
      0x9d, 0x3a, 0xc9, 0xc4, 0x20, 0x43, 0x1e, 0x8b, 0x9f, 0x55, 0x20, 0x51, 0x2f, 0x4e, 0xf8, 0xa1, 0x68, 0x3b, 0x83,
      0x7d, 0x0a, 0x4a, 0xcb,
    ]
    #expect(
      found(
        .ffv1(configuration: record), [0xfc, 0x15, 0x80, 0x00, 0x04, 0x3c, 0xaf, 0x00, 0x00, 0x3f, 0xff, 0xaa],
        [0xfb, 0x37, 0x00, 0x04, 0x3c, 0xaf, 0x00, 0x00, 0x3f, 0xff, 0xaa, 0xaa]) == [nil, .hasFields])
  }

  @Test("a VP9 packet must consist of exactly one shown keyframe")
  func vp9Packets() {
    let key: [UInt8] = [0b1000_0010, 0x49, 0x83, 0x42]
    #expect(
      found(.vp9, key, [0b1000_0110, 0], [0b1000_1000], [0b1000_0000, 0]) == [
        nil, .dependsOnOthers, .dependsOnOthers, .isNotOneFrame,
      ])
    // Profile 3 has one more reserved bit.
    #expect(found(.vp9, [0b1011_0001, 0x49], [0b1011_0011, 0x49]) == [nil, .dependsOnOthers])
    // A superframe index of two frames with 1-byte sizes.
    #expect(found(.vp9, key + [0xC1, 4, 0, 0xC1], key + [0xC1, 4, 0, 0xC0]) == [.isNotOneFrame, nil])
  }

  private let sps: [UInt8] = [0x67, 66, 192, 10]
  private let pps: [UInt8] = [0x68, 206]
  private let idr: [UInt8] = [0x65, 136, 4]

  private func coded(_ units: [UInt8]...) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }
  private func lengths(_ units: [UInt8]...) -> [UInt8] { units.flatMap { [0, UInt8($0.count)] + $0 } }
  private var record: [UInt8] { [1, 66, 192, 10, 0xFD, 225, 0, 4] + sps + [1, 0, 2] + pps }

  @Test("H.264 packets must be IDR pictures")
  func h264Pictures() {
    let slice: [UInt8] = [0x61, 1, 2]
    #expect(
      found(.h264(configuration: record), lengths(idr), lengths([6, 5], idr), lengths(slice)) == [
        nil, nil, .dependsOnOthers,
      ])
    #expect(found(.h264(configuration: nil), coded(sps, pps, idr), coded(sps, pps, slice)) == [nil, .dependsOnOthers])
    #expect(found(.h264(configuration: record), lengths(idr, [0x74, 1])) == [.isNotOneFrame])
  }

  @Test("parameter sets must be out of band or in every packet")
  func parameterSets() {
    let other: [UInt8] = [0x68, 207]
    #expect(found(.h264(configuration: record), lengths(sps, pps, idr), lengths(idr)) == [nil, nil])
    #expect(found(.h264(configuration: record), lengths(other, idr), lengths(idr)) == [nil, .needsParameterSets])
    #expect(found(.h264(configuration: record), lengths(idr), lengths(other, idr)) == [nil, .needsParameterSets])
    #expect(found(.h264(configuration: nil), coded(idr)) == [.needsParameterSets])
    #expect(found(.h264(configuration: nil), coded(sps, pps, idr) + [0], coded(sps, pps, idr)) == [nil, nil])
    #expect(found(.h264(configuration: nil), coded(sps, pps, idr), coded(idr)) == [nil, .needsParameterSets])
  }

  @Test("HEVC packets must be IDR pictures")
  func hevcPictures() {
    let record = Array(repeating: UInt8(0), count: 21) + [0xFD]
    func unit(_ type: UInt8, layer: UInt8 = 0) -> [UInt8] { [type << 1, layer << 3 | 1, 7] }
    #expect(
      found(.h265(configuration: record), lengths(unit(19)), lengths(unit(20)), lengths(unit(21)), lengths(unit(1)))
        == [nil, nil, .dependsOnOthers, .dependsOnOthers])
    #expect(found(.h265(configuration: record), lengths(unit(19), unit(19, layer: 1))) == [.isNotOneFrame])
  }

  @Test(
    "truncated packets do not trap",
    arguments: [
      PacketCheck.Codec.independent(beginning: [0xFF]), .jpeg(height: 99), .proRes, .ffv1(configuration: nil),
      .ffv1(configuration: [1, 2, 3, 4]), .vp9,
      .h264(configuration: nil), .h264(configuration: []),
      .h265(configuration: []),
    ])
  func truncatedPackets(_ codec: PacketCheck.Codec) {
    let whole =
      [0xFF, 0xD8, 0xFF, 0xE0, 0, 9] + Array("AVI1".utf8) + [
        0, 0, 1, 0x65, 0, 0, 1, 0xFF, 0xC3, 0xFF, 0xE1, 0xFF, 0xFF, 0xDF,
      ]
    for start in whole.indices {
      for end in start...whole.count { _ = found(codec, Array(whole[start..<end])) }
    }
  }
}
