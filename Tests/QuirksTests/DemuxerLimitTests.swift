import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Limits of demuxers") struct DemuxerLimitTests {
  /// Returns true if the demuxer does not know the codec of the file. The caps then contain only
  /// the codec name of the file.
  private func isUnnamed(_ path: String, _ demuxer: String) throws -> Bool {
    let type = try caps(of: "filesrc location=\(path) ! \(demuxer)").mediaType
    return type.contains("gst-fourcc") || type.hasSuffix("unknown")
  }

  /// Writes an MP4 whose only stream has the codec name `fourcc`, and returns its path.
  private func mp4(_ folder: TemporaryFolder, _ fourcc: String) throws -> String {
    var file = try FileBytes(ffmpeg(folder, "a.mp4", tenFrames, "-c:v mpeg4"))
    let end = try file.end(of: "mp4v")
    file.bytes.replaceSubrange(end - 4..<end, with: Array(fourcc.utf8))
    try file.write()
    return file.path
  }

  @Test("qtdemux does not know the raw PCM of MP4 (ipcm)")
  func ipcm() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.mov", tone, "-c:a pcm_s16le"))
    let type = try file.end(of: "sowt")
    file.bytes.replaceSubrange(type - 4..<type, with: Array("ipcm".utf8))
    // Replaces the box `chan` with `pcmC` (little-endian, 16 bits) and padding.
    let channels = try file.end(of: "chan") - 8
    try #require(file.integer(at: channels) == 24)
    let format: [UInt8] = [0, 0, 0, 14] + Array("pcmC".utf8) + [0, 0, 0, 0, 1, 16]
    file.bytes.replaceSubrange(channels..<channels + 24, with: format + [0, 0, 0, 10] + Array("free".utf8) + [0, 0])
    try file.write()
    try expect(.qtdemuxIPCM) { try isUnnamed(file.path, "qtdemux") }
  }

  @Test("y4mdec reads only 8-bit formats")
  func y4mDepth() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.y4m", tenFrames, "-pix_fmt yuv444p10le -strict -1")
    try expect(.y4mdecDepth) { (try? packets(of: "filesrc location=\(path) ! y4mdec").count) != 10 }
  }

  @Test("y4mdec does not report the field order")
  func y4mFieldOrder() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.y4m", tenFrames, "-pix_fmt yuv420p -vf setfield=bff -field_order bb")
    try expect(.y4mdecFieldOrder) {
      let caps = try #require(try packets(of: "filesrc location=\(path) ! y4mdec").first?.caps)
      return caps.string("interlace-mode") == "interleaved" && caps.string("field-order") == nil
    }
  }

  @Test("qtdemux does not know H.266")
  func vvc() throws {
    let folder = try TemporaryFolder()
    try expect(.qtdemuxVVC) { try isUnnamed(mp4(folder, "vvc1"), "qtdemux") }
  }

  @Test("qtdemux does not know Hap", arguments: ["Hap1", "Hap5", "HapY"])
  func hap(_ fourcc: String) throws {
    let folder = try TemporaryFolder()
    try expect(.qtdemuxHap) { try isUnnamed(mp4(folder, fourcc), "qtdemux") }
  }

  @Test("qtdemux does not know DNxHR")
  func dnxhr() throws {
    let folder = try TemporaryFolder()
    try expect(.qtdemuxDNxHR) { try isUnnamed(mp4(folder, "AVdh"), "qtdemux") }
  }

  @Test("demuxers do not know FFmpeg's HuffYUV", arguments: [("avi", "avidemux"), ("mkv", "matroskademux")])
  func ffvhuff(_ container: (name: String, demuxer: String)) throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.\(container.name)", tenFrames, "-pix_fmt yuv422p -c:v ffvhuff")
    try expect(.avidemuxFFVHuff) { try isUnnamed(path, container.demuxer) }
  }

  @Test("demuxers do not know MagicYUV and Ut Video", arguments: ["magicyuv", "utvideo"])
  func magicYUV(_ codec: String) throws {
    let folder = try TemporaryFolder()
    try expect(.avidemuxMagicYUV) {
      try [("avi", "avidemux"), ("mkv", "matroskademux"), ("mov", "qtdemux")].allSatisfy { container, demuxer in
        try isUnnamed(ffmpeg(folder, "a.\(container)", tenFrames, "-pix_fmt yuv422p -c:v \(codec)"), demuxer)
      }
    }
  }

  @Test("qtdemux refuses an MP4 with a box smaller than its header")
  func malformedBox() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.mp4", tenFrames, "-c:v mpeg4"))
    let pipeline = "filesrc location=\(file.path) ! qtdemux"
    try #require(!fails(pipeline))
    file.set(3, at: try file.end(of: "free") - 8)
    try file.write()
    try expect(.qtdemuxMalformedBox) { fails(pipeline) }
  }

  @Test("TTA in Matroska is not decoded")
  func tta() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mka", tone, "-c:a tta")
    try expect(.matroskademuxTTA) { fails("filesrc location=\(path) ! matroskademux ! avdec_tta") }
  }

  @Test("the priming is played if only iTunes' tag declares it")
  func gapless() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.m4a", tone, "-c:a aac -use_editlist 0 -metadata title=name"))
    let pipeline = "filesrc location=\(file.path) ! qtdemux ! avdec_aac"
    let plain = try bytes(of: pipeline).count
    try addGaplessTag(to: &file)
    try file.write()
    try expect(.qtdemuxGapless) { try bytes(of: pipeline).count == plain }
  }
}
