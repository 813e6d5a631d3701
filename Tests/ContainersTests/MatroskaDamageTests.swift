import Containers
import Foundation
import TestSupport
import Testing

/// Altered bytes in the middle of a Matroska file.
@Suite struct MatroskaDamageTests {
  private func block(_ time: Int) -> [UInt8] {
    EBMLElement(id: 0xA3, bytes: [0x81] + big(time, 2) + [0x80] + [UInt8](repeating: 7, count: 40)).encoded
  }

  private func cluster(_ time: Int, checksum: [UInt8]? = nil) -> [UInt8] {
    let blocks = (0..<4).flatMap { block($0 * 40) }
    let sum = checksum.map { EBMLElement(id: 0xBF, bytes: $0).encoded } ?? []
    return EBMLElement(id: 0x1F43_B675, bytes: sum + EBMLElement(id: 0xE7, number: time).encoded + blocks).encoded
  }

  private func damage(_ file: [UInt8]) throws -> [Damage] {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mkv")
    try Data(file).write(to: URL(fileURLWithPath: path))
    return ContainerFacts(path).damage()
  }

  private let head = EBMLElement(id: 0x1A45_DFA3, bytes: [UInt8](repeating: 0, count: 0)).encoded

  @Test("a complete, live, zero-padded or truncated Matroska file is not reported as damaged")
  func wholeFile() throws {
    let clusters = cluster(0) + cluster(160) + EBMLElement(id: 0x1C53_BB6B, bytes: [0xEC, 0x81, 0]).encoded
    let known = head + EBMLElement(id: 0x1853_8067, bytes: clusters).encoded
    let live = head + [0x18, 0x53, 0x80, 0x67, 0xFF] + clusters
    for file in [known, live, live + [UInt8](repeating: 0, count: 100), live.dropLast(90), known.dropLast(90)] {
      #expect(try damage(Array(file)).isEmpty)
    }
  }

  @Test("a second Matroska file appended to the first is counted, not reported as damage")
  func secondFile() throws {
    let clusters = cluster(0) + cluster(160)
    let known = head + EBMLElement(id: 0x1853_8067, bytes: clusters).encoded
    let live = head + [0x18, 0x53, 0x80, 0x67, 0xFF] + clusters
    for file in [known, live] {
      #expect(try damage(file + file).isEmpty)
      let folder = try TemporaryFolder()
      let path = folder.path("a.mkv")
      try Data(file + file).write(to: URL(fileURLWithPath: path))
      #expect(ContainerFacts(path).report?.links == 2)
    }
  }

  @Test("a file that ends in the header of an EBML element is not reported as damaged", arguments: 1...4)
  func cutHeader(_ left: Int) throws {
    let clusters = cluster(0) + cluster(160)
    let last = [UInt8]([0xA3, 0xAC, 0x81, 0].prefix(left))
    let live = head + [0x18, 0x53, 0x80, 0x67, 0xFF] + clusters
    for file in [live + [0x1F, 0x43, 0xB6, 0x75].prefix(left), live.dropLast(block(0).count) + last] {
      #expect(try damage(Array(file)).isEmpty)
    }
  }

  @Test("zeros that start in the middle of a block are reported with offset and time", arguments: [true, false])
  func hole(isLive: Bool) throws {
    let clusters = cluster(0) + cluster(160) + cluster(320)
    let segment = EBMLElement(id: 0x1853_8067, bytes: clusters).encoded
    let start = isLive ? [0x18, 0x53, 0x80, 0x67, 0xFF] : Array(segment.dropLast(clusters.count))
    var file = head + start + clusters
    let first = head.count + start.count
    let size = block(0).count
    // The zeros go from the second block of the first cluster into the second cluster.
    let second = first + cluster(0).count - 3 * size
    file.replaceSubrange(second + 20..<second + 4 * size, with: [UInt8](repeating: 0, count: 4 * size - 20))
    let found = try damage(file)
    #expect(found.map(\.kind) == [.unreadable])
    #expect(found.first?.byte == second + size)
    #expect(found.first?.start.nanoseconds == 40_000_000)
    #expect(found.first?.end?.nanoseconds == 320_000_000)
  }

  @Test("a block of a track that the header does not list is reported as damage", arguments: [0x80, 0x82, 0x00])
  func unlistedTrack(_ track: UInt8) throws {
    let entry = EBMLElement(
      id: 0xAE, bytes: EBMLElement(id: 0xD7, number: 1).encoded + EBMLElement(id: 0x83, number: 1).encoded)
    let tracks = EBMLElement(id: 0x1654_AE6B, bytes: entry.encoded).encoded
    var file = head + EBMLElement(id: 0x1853_8067, bytes: tracks + cluster(0) + cluster(160)).encoded
    #expect(try damage(file).isEmpty)
    let second = file.count - 3 * block(0).count + 2
    file[second] = track
    let found = try damage(file)
    #expect(found.map(\.byte) == [second] && found.first?.start.nanoseconds == 160_000_000)
  }

  @Test("a cluster with a wrong checksum is reported as damage")
  func checksum() throws {
    // Little-endian CRC-32 of the rest of the cluster.
    let body = Array(cluster(160).dropFirst(6))
    var sum = UInt32.max
    for byte in body {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 != 0 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    let right = little(~sum)
    func file(_ sum: [UInt8]) -> [UInt8] {
      head + EBMLElement(id: 0x1853_8067, bytes: cluster(0) + cluster(160, checksum: sum)).encoded
    }
    try #require(cluster(160).count == body.count + 6)
    #expect(try damage(file(right)).isEmpty)
    let found = try damage(file([1, 2, 3, 4]))
    #expect(found.map(\.kind) == [.altered])
    #expect(found.first?.start.nanoseconds == 160_000_000)
  }
}
