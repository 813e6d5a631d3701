import Foundation
import TestSupport
import Testing

@testable import Containers

/// Tags that GStreamer does not read, in files with nonsensical sizes and depths.
@Suite struct UnreadTagTests {
  @Test("an AVI file whose declared size ends before its lists has no tags", arguments: 0...16)
  func shortAVI(size: UInt32) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.avi")
    let list = bytes("LIST", little(17), "INFO", "ITCH", little(5), "Ada", [0, 0, 0])
    try Data(bytes("RIFF", little(size), "AVI ", list)).write(to: URL(fileURLWithPath: path))
    #expect(ContainerFacts(path).tags.isEmpty)
  }

  @Test("a location too long for MP4 user data is written to meta")
  func longLocation() {
    let tag = MP4Tag(NamedTag(name: NamedTag.location, text: "+" + String(repeating: "1", count: 70_000)))
    let types = Box.all(in: [tag].added(to: [])[...]).map(\.type)
    #expect(types == ["meta"])
  }

  @Test("Matroska tags nested 1000 deep are reported as one")
  func deepTags() throws {
    let folder = try TemporaryFolder()
    let name = EBMLElement(id: MatroskaID.tagName, bytes: Array("A".utf8))
    var tag = EBMLElement(id: MatroskaID.simpleTag, of: [name])
    for _ in 0..<1000 { tag = EBMLElement(id: MatroskaID.simpleTag, of: [name, tag]) }
    let tags = EBMLElement(id: MatroskaID.tags, of: [EBMLElement(id: MatroskaID.tag, of: [tag])])
    let path = folder.path("a.mkv")
    let file = EBMLElement(id: 0x1A45_DFA3, bytes: []).encoded + EBMLElement(id: MatroskaID.segment, of: [tags]).encoded
    try Data(file).write(to: URL(fileURLWithPath: path))
    #expect(ContainerFacts(path).details.map(\.what) == ["the tags in A/A/A/A/A/A/A/A"])
  }
}
