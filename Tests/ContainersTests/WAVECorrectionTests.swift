import Foundation
import TestSupport
import Testing

@testable import Containers

@Suite struct WAVECorrectionTests {
  @Test("WAV markers are hidden from the demuxer")
  func markers() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.wav")
    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] { WAVEChunks.Chunk(name: name, body: body).encoded }
    let format = chunk("fmt ", [1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x80, 0x3E, 0, 0, 2, 0, 16, 0])
    let cues = chunk("cue ", .littleEndian(1) + [UInt8](repeating: 0, count: 24))
    let body = Array("WAVE".utf8) + format + cues + chunk("data", [1, 0, 2, 0])
    let file = Array("RIFF".utf8) + .littleEndian(body.count) + body
    try Data(file).write(to: URL(filePath: path))
    let facts = ContainerFacts(path)
    let correction = try #require(facts.correction)
    #expect(correction.demuxer == "wavparse" && correction.isForProbing && facts.wave?.chunks.markers.count == 1)
    let name = 12 + format.count
    #expect(!correction.changes(0..<name) && correction.changes(name + 3..<name + 9))
    // Read in small steps, as a demuxer does.
    var read = file
    for place in stride(from: 0, to: file.count, by: 3) {
      let end = min(place + 3, file.count)
      read[place..<end].withUnsafeMutableBytes { correction.apply(to: UnsafeMutableRawBufferPointer($0), at: place) }
    }
    var expected = file
    expected.replaceSubrange(name..<name + 4, with: "JUNK".utf8)
    #expect(read == expected)
  }
}
