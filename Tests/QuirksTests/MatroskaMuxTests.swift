import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of matroskamux") struct MatroskaMuxTests {
  private static let video = "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=64"
  private static let audio = "audiotestsrc num-buffers=1 ! audio/x-raw,format=S16LE,rate=48000,channels=1"

  @Test("the text of tags is quoted")
  func tagQuotes() throws {
    try expect(.matroskamuxTagQuotes) {
      let file = try MuxedFile("\(Self.audio) ! taginject tags=\"artist=\\\"Ada\\\\ Lovelace\\\"\" ! matroskamux")
      try #require(file.contains(Array("Lovelace".utf8)))
      return file.contains(Array("\"Ada\\ Lovelace\"".utf8))
    }
  }

  @Test("a comment is written as COMMENTS, not as COMMENT")
  func comment() throws {
    try expect(.matroskamuxComment) {
      let file = try MuxedFile("\(Self.audio) ! taginject tags=comment=short ! matroskamux")
      return file.contains(Array("COMMENTS".utf8))
    }
  }

  @Test("tracks get made-up names")
  func trackNames() throws {
    try expect(.matroskamuxTrackNames) {
      let file = try MuxedFile("\(Self.video) ! matroskamux name=mux", "\(Self.audio) ! mux.")
      return ["Video", "Audio"].allSatisfy { file.contains([0x53, 0x6E, 0x86] + Array($0.utf8)) }
    }
  }

  @Test("the first Opus packet is late by the duration of the priming")
  func opusStart() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mkv")
    try Pipeline(
      "audiotestsrc num-buffers=20 timestamp-offset=100000000 ! audio/x-raw,rate=48000,channels=1 ! opusenc ! "
        + "matroskamux ! filesink location=\(path)"
    ).runToEnd()
    try expect(.matroskamuxOpusStart) {
      let times = try FFmpeg.lines(["-i", path, "-c", "copy", "-copyts", "-f", "framecrc", "-"])
        .compactMap { Int($0.split(separator: ",")[2].trimmingCharacters(in: .whitespaces)) }
      return times[1] - times[0] < 20
    }
  }

  @Test("the field order is not written")
  func fieldOrder() throws {
    try expect(.matroskamuxFieldOrder) {
      let file = try MuxedFile(
        "\(Self.video) ! capssetter caps=video/x-raw,interlace-mode=interleaved,field-order=top-field-first ! matroskamux"
      )
      // FlagInterlaced with the value 1. The EBML element FieldOrder would follow FlagInterlaced.
      let interlaced = try #require(file.bytes.firstRange(of: [0x9A, 0x81, 1]))
      return file.bytes[interlaced.upperBound] != 0x9D
    }
  }

  @Test("every track is a default track")
  func defaultFlag() throws {
    try expect(.matroskamuxDefaultFlag) {
      let file = try MuxedFile("\(Self.audio) ! matroskamux name=mux", "\(Self.audio) ! mux.")
      // Without a FlagDefault element, a track is a default track. The bytes are ID, size and value
      // of FlagDefault; shorter byte sequences may occur in a random TrackUID.
      return try [0, 1].allSatisfy { try !file.tracks.contains([0x88, 0x81, $0]) }
    }
  }

  @Test("the display size is rounded")
  func displaySize() throws {
    try expect(.matroskamuxDisplaySize) {
      let file = try MuxedFile(
        "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=720,height=480,pixel-aspect-ratio=32/27 ! matroskamux"
      )
      // DisplayWidth of 853, and no DisplayUnit.
      return try file.tracks.contains([0x54, 0xB0, 0x82, 0x03, 0x55]) && !file.tracks.contains([0x54, 0xB2])
    }
  }

  @Test("the mastering display's luminance is too low")
  func luminance() throws {
    try expect(.matroskamuxLuminance) {
      let display = "34000:16000:13250:34500:7500:3000:15635:16450:10000000:500"
      let file = try MuxedFile(
        "\(Self.video) ! capssetter caps=\"video/x-raw,mastering-display-info=(string)\(display)\" ! matroskamux")
      // LuminanceMax of 200 cd/m², as an 8-byte float.
      return try file.tracks.contains([0x55, 0xD9, 0x88, 0x40, 0x69, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test("a track without a language gets no Language element, which means English")
  func language() throws {
    try expect(.matroskamuxLanguage) {
      try !MuxedFile("\(Self.audio) ! matroskamux").tracks.contains([0x22, 0xB5, 0x9C])
    }
  }

  @Test("matroskamux refuses FFV1 caps without `ffversion`")
  func ffv1Version() throws {
    try expect(.matroskamuxFFV1Version) {
      let packets = "\(Self.video) ! avenc_ffv1 ! capssetter replace=true join=false caps="
      let caps = "video/x-ffv,ffvversion=1,width=64,height=64,framerate=30/1"
      _ = try MuxedFile("\(packets)\(caps),ffversion=1 ! matroskamux")
      return (try? MuxedFile("\(packets)\(caps) ! matroskamux")) == nil
    }
  }

  @Test("all ProRes is written as apcn")
  func proResVariant() throws {
    try expect(.matroskamuxProResVariant) {
      let frames = "videotestsrc num-buffers=2 ! video/x-raw,format=I422_10LE,width=64,height=64"
      let packets = "\(frames) ! avenc_prores_ks ! capssetter caps=video/x-prores,variant=hq"
      return try MuxedFile("\(packets) ! matroskamux").tracks.contains(Array("apcn".utf8))
    }
  }

  @Test("cover art is dropped")
  func coverArt() throws {
    try expect(.matroskamuxCoverArt) {
      let folder = try TemporaryFolder()
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "sine=duration=0.1", "-f", "lavfi", "-i", "color=size=16x16", "-frames:v", "1", "-c:v",
        "png",
        "-disposition:v", "attached_pic", folder.path("a.mp3"),
      ])
      let file = try MuxedFile("filesrc location=\(folder.path("a.mp3")) ! id3demux ! mpegaudioparse ! matroskamux")
      return !file.contains(Array("IHDR".utf8))
    }
  }

  @Test("rotation is not written")
  func orientation() throws {
    try expect(.matroskamuxOrientation) {
      // ID of the EBML element Projection, which contains the rotation.
      try !MuxedFile("\(Self.video) ! taginject tags=image-orientation=rotate-90 ! matroskamux").tracks
        .contains([0x76, 0x70])
    }
  }
}

extension MuxedFile {
  /// The headers of all tracks.
  fileprivate var tracks: Tracks {
    get throws {
      let start = try #require(bytes.firstRange(of: [0x16, 0x54, 0xAE, 0x6B])).upperBound
      return Tracks(
        bytes: bytes[start..<(try #require(bytes[start...].firstRange(of: [0x1F, 0x43, 0xB6, 0x75]))).lowerBound])
    }
  }

  fileprivate struct Tracks {
    let bytes: ArraySlice<UInt8>
    func contains(_ part: [UInt8]) -> Bool { bytes.firstRange(of: part) != nil }
  }
}
