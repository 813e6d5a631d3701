import Containers
import Foundation
import TestSupport
import Testing

/// Damage that only the structure of a file shows.
@Suite struct ContainerDamageTests {
  private static let codecs = [
    "nut": ["-c:v", "mpeg4", "-c:a", "pcm_s16le"], "mxf": ["-c:v", "mpeg2video", "-c:a", "pcm_s16le"],
    "wmv": ["-c:v", "wmv2", "-c:a", "wmav2"], "voc": ["-vn", "-c:a", "pcm_s16le"],
  ]

  /// Two seconds of video and audio, or of audio alone.
  private func media(_ format: String, _ options: [String] = []) throws -> [UInt8] {
    let folder = try TemporaryFolder()
    let path = folder.path("a.\(format)")
    let inputs = ["-f", "lavfi", "-i", "testsrc=s=96x64:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2:r=48000"]
    _ = try FFmpeg.bytes(inputs + ["-g", "12"] + (Self.codecs[format] ?? []) + options + [path])
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func report(_ file: [UInt8]) throws -> ContainerReport? {
    let folder = try TemporaryFolder()
    try Data(file).write(to: URL(fileURLWithPath: folder.path("file")))
    return ContainerFacts(folder.path("file")).report
  }

  private func zeroed(_ file: [UInt8], _ hole: Range<Int>) -> [UInt8] {
    var file = file
    file.replaceSubrange(hole, with: [UInt8](repeating: 0, count: hole.count))
    return file
  }

  @Test("an intact file is not reported as damaged", arguments: ["nut", "mxf", "wmv", "voc"])
  func intact(_ format: String) throws {
    let report = try report(media(format))
    #expect(report?.isCut != true && report?.brokenAt == nil)
  }

  @Test("bytes missing from the middle of a file are reported", arguments: ["nut", "mxf"])
  func missingBytes(_ format: String) throws {
    var file = try media(format)
    file.removeSubrange(file.count / 2..<file.count / 2 + 1500)
    let report = try #require(try report(file))
    #expect(report.brokenAt != nil && !report.isCut)
  }

  @Test("a NUT file that ends within a frame or within its index is reported as truncated", arguments: [1, 100_000])
  func cutNUT(_ lost: Int) throws {
    let file = try media("nut")
    let report = try #require(try report(file.dropLast(lost)))
    #expect(report.isCut && report.brokenAt == nil)
    #expect(report.streams.map(\.kind) == [.video, .audio])
  }

  @Test("a NUT file without an index is not reported as truncated")
  func noIndexInNUT() throws {
    let file = try media("nut", ["-write_index", "0"])
    #expect(try report(file)?.isCut == false)
    #expect(try report(file.dropLast(1))?.isCut == true)
  }

  @Test("zeros within a packet of WMV are reported")
  func zerosInWMV() throws {
    let file = try media("wmv")
    let header = file[16..<24].reversed().reduce(0) { $0 << 8 | Int($1) }
    // The data object begins with 50 bytes, and FFmpeg writes packets of 3,200 bytes.
    let packet = header + 50 + 8 * 3200
    #expect(try report(zeroed(file, packet + 200..<packet + 3200))?.brokenAt == packet)
  }

  @Test("zeros in the middle of a VOC file are reported, and padding at its end is not")
  func zerosInVOC() throws {
    let file = try media("voc")
    let middle = file.count / 2
    #expect(try report(zeroed(file, middle..<middle + 8192))?.brokenAt != nil)
    #expect(try report(file + [UInt8](repeating: 0x1A, count: 100))?.brokenAt == nil)
  }
}
