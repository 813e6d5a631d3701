import Foundation
import TestSupport
import Testing

@testable import Containers

/// Tags that GStreamer does not read, in files with nonsensical sizes and nesting depths.
@Suite struct UnreadTagTests {
  @Test("an AVI file whose declared size excludes its lists has no tags", arguments: 0...16)
  func shortAVI(size: UInt32) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.avi")
    let list = bytes("LIST", little(17), "INFO", "ITCH", little(5), "Ada", [0, 0, 0])
    try Data(bytes("RIFF", little(size), "AVI ", list)).write(to: URL(fileURLWithPath: path))
    #expect(ContainerFacts(path).tags.isEmpty)
  }

  @Test("a location too long for MP4 user data is written to the meta box")
  func longLocation() {
    let tag = MP4Tag(NamedTag(name: NamedTag.location, text: "+" + String(repeating: "1", count: 70_000)))
    let types = Box.all(in: [tag].added(to: [])[...]).map(\.type)
    #expect(types == ["meta"])
  }

  @Test("Matroska tags nested 1000 deep are reported as one tag")
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

  /// A yaw or pitch of 180° flips the picture, and a roll rotates it.
  @Test(
    "a rotation in Matroska's header is reported",
    arguments: [(0x7673, "Yaw"), (0x7674, "Pitch"), (0x7675, "Roll")] as [(UInt32, String)])
  func pose(id: UInt32, name: String) throws {
    let folder = try TemporaryFolder()
    func details(_ angle: Double) throws -> [String] {
      let bits = withUnsafeBytes(of: angle.bitPattern.bigEndian, Array.init)
      let projection = EBMLElement(id: MatroskaID.projection, of: [EBMLElement(id: id, bytes: bits)])
      let video = EBMLElement(id: MatroskaID.video, of: [projection])
      let track = EBMLElement(
        id: MatroskaID.trackEntry, of: [EBMLElement(id: MatroskaID.trackType, number: 1), video])
      let tracks = EBMLElement(id: MatroskaID.tracks, of: [track])
      let file =
        EBMLElement(id: 0x1A45_DFA3, bytes: []).encoded + EBMLElement(id: MatroskaID.segment, of: [tracks]).encoded
      try Data(file).write(to: URL(fileURLWithPath: folder.path("a.mkv")))
      return ContainerFacts(folder.path("a.mkv")).details.map(\.what)
    }
    #expect(try details(180) == ["the rotation by 180.0° (ProjectionPose\(name))"])
    #expect(try details(0) == [])
  }

  /// apedemux adds 32 to the 32-bit size. If the sum overflows, a failed assertion ends the
  /// process. Therefore, such a file is refused before apedemux reads it.
  @Test(
    "an APE tag whose size overflows is refused in any file",
    arguments: [0xFFFF_FFE0, 0xFFFF_FFFF, 0xFFFF_FFDF, 0] as [UInt32], ["end", "ID3v1", "start", "ID3v2", "nested"])
  func overflowingAPETag(size: UInt32, place: String) throws {
    func tag(_ size: UInt32) -> [UInt8] {
      bytes("APETAGEX", little(2000), little(size), little(1), [UInt8](repeating: 0, count: 12))
    }
    let media = [UInt8](repeating: 0x55, count: 500)
    let file =
      switch place {
      case "end": media + tag(size)
      case "ID3v1": media + tag(size) + bytes("TAG", [UInt8](repeating: 0, count: 125))
      case "start": tag(size) + media
      case "ID3v2": bytes("ID3", [4, 0, 0, 0, 0, 0, 6] as [UInt8], [UInt8](repeating: 0, count: 6)) + tag(size) + media
      default: media + tag(size) + tag(40) + [UInt8](repeating: 0, count: 8) + tag(40)
      }
    let folder = try TemporaryFolder()
    try Data(file).write(to: URL(fileURLWithPath: folder.path("a")))
    let fault = ContainerFacts(folder.path("a")).fault
    #expect((fault != nil) == (size >= 0xFFFF_FFE0), "\(fault ?? "")")
  }
}
