import Foundation
import TestSupport
import Testing

@testable import Images
@testable import Retrograde
@testable import RetrogradeEngine

/// Details that demuxers do not report. Each must be kept, or a warning must report it.
@Suite struct UnnamedLossTests {
  private static let clip = ["-f", "lavfi", "-i", "testsrc2=d=0.5:r=10:s=64x48"]
  private static let tone = ["-f", "lavfi", "-i", "sine=d=0.5:r=48000"]

  private func warnings(_ path: String, _ output: String) async throws -> [String] {
    var options = ReverseOptions()
    options.output.overwrites = true
    return try await Reverser(path, options: options).reverse(to: output).warnings.map { "\($0.message)" }
  }

  private func probe(_ path: String, _ fields: String, of streams: String? = nil) throws -> [String] {
    let selection = streams.map { ["-select_streams", $0] } ?? []
    let output = try Program.succeed(
      "/usr/bin/ffprobe", ["-v", "error"] + selection + ["-show_entries", fields, "-of", "default=nw=1:nk=1", path]
    ).output
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The source has half a second of audio before the first frame, and frames of unequal durations.
  /// Tests decoded frames and copied packets.
  @Test("ProRes in Matroska keeps its frame times", arguments: ["mkv", "mov"])
  func proResTimes(output: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mkv")
    _ = try FFmpeg.bytes(
      Self.clip + ["-f", "lavfi", "-i", "sine=d=1.5:r=48000"] + [
        "-vf", "setpts='(PTS*(1+N/4))+0.5/TB'", "-fps_mode", "passthrough", "-c:v", "prores_ks", "-c:a", "pcm_s16le",
        path,
      ])
    let own = try probe(path, "packet=pts_time", of: "v").compactMap { Double($0) }
    #expect(own.count == 5 && own[0] == 0.5)
    var options = ReverseOptions()
    options.output.isVerified = true
    try await Reverser(path, options: options).reverse(to: folder.path("b.\(output)"))
    let mirrored = try probe(folder.path("b.\(output)"), "packet=pts_time", of: "v").compactMap { Double($0) }
    let gaps = zip(own, own.dropFirst()).map { $1 - $0 }
    let mirroredGaps = zip(mirrored, mirrored.dropFirst()).map { $1 - $0 }
    #expect(mirrored.count == 5)
    // The first gap is the duration of the source's last frame, which is not among the source's
    // gaps.
    for (one, other) in zip(gaps.reversed(), mirroredGaps.dropFirst()) { #expect(abs(one - other) < 0.002) }
  }

  /// Tests copied packets and encoded frames.
  @Test("Matroska stores the ProRes variant", arguments: [false, true])
  func proResVariant(isEncoded: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    _ = try FFmpeg.bytes(Self.clip + ["-c:v", "prores_ks", "-profile:v", "4444", "-pix_fmt", "yuv444p10le", path])
    var options = ReverseOptions()
    options.encoding.reencodes = isEncoded
    if isEncoded { options.encoding.videoCodec = "prores" }
    let warnings = try await Reverser(path, options: options).reverse(to: folder.path("b.mkv")).warnings
    #expect(warnings.contains { $0.message.contains("12 bits a sample become 10") } == isEncoded)
    #expect(try probe(folder.path("b.mkv"), "stream=codec_name,pix_fmt") == probe(path, "stream=codec_name,pix_fmt"))
  }

  @Test("the field order of Y4M is read", arguments: [("setfield=tff", "tt", "0"), ("setfield=bff", "bb", "1")])
  func y4mFieldOrder(filter: String, order: String, mirrored: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.y4m")
    _ = try FFmpeg.bytes(Self.clip + ["-vf", filter, "-field_order", order, path])
    try await Reverser(path).reverse(to: folder.path("b.mov"))
    #expect(try Set(probe(folder.path("b.mov"), "frame=top_field_first")) == [mirrored])
  }

  @Test("monochrome H.264 may hide an odd number of columns")
  func oddCrop() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mkv")
    try makeCropped("gray", "crop_left=5:crop_right=6", path)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.output.isVerified = true
    try await Reverser(path, options: options).reverse(to: folder.path("b.mkv"))
    #expect(try probe(folder.path("b.mkv"), "stream=width") == ["85"])
  }

  @Test("chunks of a video have its crop")
  func cropInChunks() async throws {
    let folder = try TemporaryFolder()
    try makeCropped("yuv420p", "crop_left=10", folder.path("a.mkv"))
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let reverser = Reverser(folder.path("a.mkv"), options: options)
    try await reverser.reverse(to: folder.path("b.mkv"))
    _ = try await reverser.start(to: folder.path("c.mkv"), in: folder.path("work")).summary()
    #expect(
      try FFmpeg.frames(folder.path("c.mkv")).map(\.sum) == FFmpeg.frames(folder.path("b.mkv")).map(\.sum))
  }

  @Test("no visible columns are cut if the crop changes")
  func changedCrop() async throws {
    let folder = try TemporaryFolder()
    let parts = ["a.ts", "b.ts"].map(folder.path)
    try makeCropped("yuv420p", "crop_left=10", parts[0])
    try makeCropped("yuv420p", "crop_left=0", parts[1])
    _ = try FFmpeg.bytes(["-i", "concat:\(parts.joined(separator: "|"))", "-c", "copy", folder.path("c.ts")])
    try await Reverser(folder.path("c.ts")).reverse(to: folder.path("d.mkv"))
    #expect(try probe(folder.path("d.mkv"), "stream=width") == ["96"])
  }

  /// Writes H.264 of 96x64 pixels with a crop.
  private func makeCropped(_ format: String, _ crop: String, _ path: String) throws {
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc2=d=0.5:r=10:s=96x64", "-pix_fmt", format, "-c:v", "libx264", "-x264-params",
      "log-level=none", "-bsf:v", "h264_metadata=\(crop)", path,
    ])
  }

  @Test("Y4M declares the reversed field order", arguments: [("tff", "tt", " Ib "), ("bff", "bb", " It ")])
  func y4mReversedFields(scan: String, order: String, expected: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(Self.clip + ["-vf", "setfield=\(scan)", "-field_order", order, folder.path("a.y4m")])
    try await Reverser(folder.path("a.y4m")).reverse(to: folder.path("b.y4m"))
    let header = try Data(contentsOf: URL(fileURLWithPath: folder.path("b.y4m"))).prefix(60)
    #expect(String(decoding: header, as: UTF8.self).contains(expected))
  }

  /// FFmpeg's decoders hide fewer columns at the left edge than the crop declares.
  @Test(
    "the crop of H.264 and HEVC is exact",
    arguments: [
      ("libx264", "yuv420p", "mkv"), ("libx264", "yuv420p", "ts"), ("libx264", "yuv444p", "mkv"),
      ("libx265", "yuv420p", "mp4"),
    ])
  func leftCrop(codec: String, format: String, container: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.\(container)")
    let (parameters, filter) = codec == "libx264" ? ("-x264-params", "h264") : ("-x265-params", "hevc")
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc2=d=0.5:r=10:s=96x64", "-pix_fmt", format, "-c:v", codec, parameters,
      "log-level=none", "-bsf:v", "\(filter)_metadata=crop_left=10:crop_right=6:crop_top=4:crop_bottom=2", path,
    ])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.output.isVerified = true
    try await Reverser(path, options: options).reverse(to: folder.path("b.mkv"))
    let raw = ["-pix_fmt", format, "-f", "rawvideo", "-"]
    let expected = try FFmpeg.bytes(["-flags", "unaligned", "-i", path, "-vf", "reverse"] + raw)
    let frameSize = format == "yuv444p" ? 80 * 58 * 3 : 80 * 58 * 3 / 2
    try #require(expected.count == 5 * frameSize)
    #expect(try FFmpeg.bytes(["-i", folder.path("b.mkv")] + raw) == expected)
    // A mirror that shows the hidden columns is no mirror.
    _ = try FFmpeg.bytes([
      "-i", folder.path("b.mkv"), "-vf", "pad=90:58:10:0", "-c:v", "ffv1", folder.path("wider.mkv"),
    ])
    let checks = try await Verifier(path, mirror: folder.path("wider.mkv")).verify().checks
    #expect(checks.contains { $0.subject == "size" && !$0.holds })
  }

  /// Makes a stereoscopic video. Each half of a frame is a view.
  private func makeStereo(_ layout: String, _ path: String) throws {
    _ = try FFmpeg.bytes(
      Self.clip + ["-pix_fmt", "yuv420p", "-c:v", "ffv1", "-metadata:s:v", "stereo_mode=\(layout)", path])
    // StereoMode, with one byte.
    try #require(try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data([0x53, 0xB8, 0x81])) != nil)
  }

  @Test(
    "the layout of stereoscopic video is kept, or its loss is reported",
    arguments: [
      ("top_bottom", "b.mkv", "hevc", nil), ("bottom_top", "b.mkv", "hevc", nil), ("left_right", "b.mp4", "hevc", nil),
      ("top_bottom", "b.mp4", "hevc", "left out: the layout of the two views"),
      ("top_bottom", "b.mp4", "h264", nil), ("top_bottom", "b.ts", "h264", nil),
      ("bottom_top", "b.mp4", "h264", "changed: the order of the two views"),
      ("left_right", "b%d.png", nil, "left out: the layout of the two views"),
      ("right_left", "b.mkv", nil, "left out: the layout of the two views (StereoMode 11)"),
    ] as [(String, String, String?, String?)])
  func stereo(layout: String, output: String, codec: String?, loss: String?) async throws {
    let folder = try TemporaryFolder()
    try makeStereo(layout, folder.path("a.mkv"))
    var options = ReverseOptions()
    options.encoding.videoCodec = codec
    options.output.isVerified = !output.contains("%")
    let found = try await Reverser(folder.path("a.mkv"), options: options).reverse(to: folder.path(output)).warnings
      .map { "\($0.message)" }.filter { $0.contains("views") }
    #expect(found.count == (loss == nil ? 0 : 1) && found.allSatisfy { $0.hasPrefix(loss ?? "") }, "\(found)")
  }

  @Test("a mirror with another layout of the two views is refused")
  func wrongStereo() async throws {
    let folder = try TemporaryFolder()
    try makeStereo("top_bottom", folder.path("a.mkv"))
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(folder.path("a.mkv"), options: options).reverse(to: folder.path("b.mkv"))
    func failures() async throws -> [String] {
      try await Verifier(folder.path("a.mkv"), mirror: folder.path("b.mkv")).verify().checks.filter { !$0.holds }
        .map(\.subject)
    }
    #expect(try await failures() == [])
    let file = URL(fileURLWithPath: folder.path("b.mkv"))
    var bytes = try Data(contentsOf: file)
    let mode = try #require(bytes.range(of: Data([0x53, 0xB8, 0x81, 3])))
    // 1: left and right view side by side. 2: the right view is on top.
    for other: UInt8 in [1, 2] {
      bytes[mode.upperBound - 1] = other
      try bytes.write(to: file)
      #expect(try await failures() == ["views"], "\(other)")
    }
  }

  /// The box `svmi` says which view is the first (ISO/IEC 23000-11).
  @Test("MP4 describes the first view of stereoscopic video")
  func stereoMP4() async throws {
    let folder = try TemporaryFolder()
    try makeStereo("left_right", folder.path("a.mkv"))
    var options = ReverseOptions()
    options.encoding.videoCodec = "hevc"
    try await Reverser(folder.path("a.mkv"), options: options).reverse(to: folder.path("b.mp4"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("b.mp4")))
    #expect(bytes.range(of: Data("svmi".utf8) + [0, 0, 0, 0, 0, 1]) != nil)
  }

  /// If an encoder can't store the bit depth or the chroma, the loss is reported. No other property
  /// is reduced.
  @Test(
    "a lower bit depth is reported",
    arguments: [
      ("yuv444p10le", "y4m", "yuv444p"), ("yuv422p10le", "y4m", "yuv422p"), ("yuv420p10le", "ogv", "yuv420p"),
      ("yuv444p10le", "mkv", "yuv444p10le"),
    ])
  func bitDepth(format: String, output: String, expected: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(Self.clip + ["-pix_fmt", format, "-c:v", "ffv1", "-level", "3", folder.path("a.mkv")])
    let found = try await warnings(folder.path("a.mkv"), folder.path("b.\(output)"))
    let written = try probe(folder.path("b.\(output)"), "stream=pix_fmt")
    // y4menc accepts these formats since 1.28.
    if written == [format] { return #expect(found.isEmpty) }
    #expect(written == [expected])
    #expect(found == ["changed: the video's 10 bits a sample become 8"])
  }

  @Test("halved chroma is reported")
  func halvedChroma() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(Self.clip + ["-pix_fmt", "yuv444p", "-c:v", "ffv1", "-level", "3", folder.path("a.mkv")])
    var options = ReverseOptions()
    options.encoding.videoCodec = "vp8"
    let result = try await Reverser(folder.path("a.mkv"), options: options).reverse(to: folder.path("b.webm"))
    #expect(result.warnings.contains { "\($0.message)" == "changed: the video's chroma of 4:4:4 becomes 4:2:0" })
  }

  @Test("video is refused if GStreamer computes a wrong row size")
  func rowSize() async throws {
    let folder = try TemporaryFolder()
    for (width, isRead) in [(64, true), (72, false)] {
      let path = folder.path("\(width).mov")
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=d=0.3:r=10:s=\(width)x48", "-c:v", "r210", path])
      do {
        try await Reverser(path).reverse(to: folder.path("b\(width).mkv"))
        #expect(isRead)
      } catch let error as RetrogradeError {
        #expect(!isRead && error.code == .missingPlugin)
      }
    }
  }

  @Test("the structure of an MXF file does not become a tag", arguments: ["mkv", "mov"])
  func mxfStructure(output: String) async throws {
    let folder = try TemporaryFolder()
    let (path, mirror) = (folder.path("a.mxf"), folder.path("b.\(output)"))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=d=0.5:r=25:s=64x48"] + Self.tone + [
        "-c:v", "mpeg2video", "-c:a", "pcm_s16le", path,
      ])
    #expect(try await warnings(path, mirror) == ["left out: the timecode, which can't run backwards"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: mirror)).range(of: Data("MXF_STRUCTURE".utf8)) == nil)
  }

  @Test("text tags in FLV are kept")
  func flvTexts() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      Self.clip + [
        "-metadata", "artist=Ada", "-metadata", "title=Tea", "-metadata", "comment=of \u{fc}", folder.path("a.flv"),
      ])
    #expect(try await warnings(folder.path("a.flv"), folder.path("b.mkv")) == [])
    let tags = try probe(folder.path("b.mkv"), "format_tags=title,artist,comment,comments").sorted()
    #expect(tags == ["Ada", "Tea", "of \u{fc}"])
  }

  @Test("the track number in Matroska written by FFmpeg is kept")
  func trackNumber() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(Self.tone + ["-metadata", "track=3", folder.path("a.mka")])
    #expect(try await warnings(folder.path("a.mka"), folder.path("b.flac")) == [])
    #expect(try probe(folder.path("b.flac"), "format_tags=track,disc") == ["3"])
  }

  @Test("tags with non-ASCII names, and the tags after them, are kept or reported")
  func foreignTagNames() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mka")
    let name = "Gr\u{f6}\u{df}e"
    _ = try FFmpeg.bytes(Self.tone + ["-metadata", "\(name)=x", "-metadata", "ARTIST=a", "-c:a", "flac", path])
    for output in ["b.mka", "b.m4a", "b.mp3"] {
      #expect(try await warnings(path, folder.path(output)) == [])
      let tags = try probe(folder.path(output), "format_tags")
      #expect(tags.contains("a") && tags.contains("x"), "\(tags)")
    }
    let found = try await warnings(path, folder.path("b.ogg"))
    #expect(found.count == 1 && found[0].uppercased().contains(name.prefix(3).uppercased()), "\(found)")
    #expect(try probe(folder.path("b.ogg"), "stream_tags=artist:format_tags=artist") == ["a"])
    _ = try FFmpeg.bytes(Self.tone + ["-metadata:s:a", "\(name)=x", "-c:a", "flac", folder.path("d.mka")])
    #expect(try await warnings(folder.path("d.mka"), folder.path("c.mka")).contains { $0.contains("of a stream") })
  }

  /// Encoder, its options, and true if GStreamer has no name for the colours in the options.
  private static let labels = [
    ("x264", "transfer=iec61966-2-4:colorprim=bt709:colormatrix=bt709", true),
    ("x264", "colormatrix=ycgco:transfer=bt709:colorprim=bt709", true),
    ("x264", "cqm=jvt:8x8dct=1:transfer=iec61966-2-4", true),
    ("x264", "transfer=bt709:colorprim=bt709:colormatrix=bt709", false), ("x264", "interlaced=1", false),
    ("x265", "colormatrix=ycgco:transfer=bt709:colorprim=bt709", true),
    ("x265", "scaling-list=default:temporal-layers=2:transfer=iec61966-2-4", true),
    ("x265", "keyint=12:bframes=8:b-pyramid=1:ref=5:sar=3:overscan=show:videoformat=pal:colormatrix=ycgco", true),
    ("x265", "transfer=bt709:colorprim=bt709:colormatrix=bt709", false), ("x265", "keyint=1", false),
  ]

  @Test(
    "colours declared only in H.264 or HEVC are reported if GStreamer has no name for them", arguments: labels)
  func streamColours(_ encoder: String, _ options: String, _ isUnnamed: Bool) async throws {
    let folder = try TemporaryFolder()
    for output in ["ts", "mkv"] {
      let path = folder.path("a.\(output)")
      let encoding = ["-pix_fmt", "yuv420p", "-c:v", "lib\(encoder)", "-\(encoder)-params", options]
      _ = try FFmpeg.bytes(Self.clip + encoding + [path])
      let found = try await warnings(path, folder.path("\(output).mp4")).filter {
        $0.contains("the label of the")
      }
      #expect(found.count == (isUnnamed ? 1 : 0), "\(path): \(found)")
    }
  }

  /// The last case writes raw RGB and changes its codec tag to v308, because not every release of
  /// FFmpeg writes v308.
  @Test(
    "video that GStreamer misreads is refused",
    arguments: [
      ("a.mov", ["-c:v", "rawvideo", "-pix_fmt", "rgb555be"], nil),
      ("a.mkv", ["-pix_fmt", "gbrp", "-c:v", "libaom-av1", "-cpu-used", "8"], nil),
      ("a.mov", ["-c:v", "rawvideo", "-pix_fmt", "rgb24"], "v308"),
    ])
  func misread(_ name: String, _ options: [String], _ tag: String?) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(name)
    _ = try FFmpeg.bytes(Self.clip + options + [path])
    if let tag {
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      let description = try #require(bytes.range(of: Data("stsd".utf8)))
      let place = try #require(bytes.range(of: Data("raw ".utf8), in: description.upperBound..<bytes.endIndex))
      bytes.replaceSubrange(place, with: Data(tag.utf8))
      try bytes.write(to: URL(fileURLWithPath: path))
    }
    await #expect(throws: RetrogradeError.self) { try await warnings(path, folder.path("b.mp4")) }
  }

  @Test("HEVC whose pictures are single fields is refused as unsupported")
  func fieldsOfHEVC() async throws {
    let folder = try TemporaryFolder()
    for name in ["a.ts", "a.mkv", "a.mp4"] {
      let path = folder.path(name)
      _ = try FFmpeg.bytes(
        ["-f", "lavfi", "-i", "testsrc2=s=160x64:r=50:d=0.6", "-pix_fmt", "yuv420p", "-c:v", "libx265"]
          + ["-x265-params", "interlace=tff:log-level=0:bframes=0", path])
      let error = await #expect(throws: RetrogradeError.self) { try await warnings(path, folder.path("b.mkv")) }
      #expect(error?.code == .missingPlugin, "\(name): \(error?.description ?? "")")
      #expect(error?.description.contains("single fields") ?? false)
    }
  }

  @Test("4:1:1 video that is encoded as MJPEG can be read again")
  func jpegOf411() async throws {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("a.mkv"), folder.path("b.avi"))
    _ = try FFmpeg.bytes(Self.clip + ["-pix_fmt", "yuv411p", "-c:v", "ffv1", source])
    var options = ReverseOptions()
    options.encoding.videoCodec = "mjpeg"
    let summary = try await Reverser(source, options: options).reverse(to: mirror)
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    #expect(try await Verifier(source, mirror: mirror).verify().isMirror)
  }

  @Test("24-bit LPCM of Blu-ray discs is reported")
  func deepLPCM() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.m2ts")
    _ = try FFmpeg.bytes(Self.clip + Self.tone + ["-c:v", "libx264", "-c:a", "pcm_bluray", "-sample_fmt", "s32", path])
    #expect(try await warnings(path, folder.path("b.mkv")).contains { $0.contains("LPCM") })
  }

  /// EXIF with only an orientation: rotate clockwise by 90 degrees.
  private static let exif: [UInt8] =
    Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]

  /// Writes an animated PNG, and inserts chunks after its header.
  private func writePNG(_ path: String, aspect: Int = 1, _ chunks: [(String, [UInt8])]) throws {
    _ = try FFmpeg.bytes(Self.clip + ["-vf", "setsar=\(aspect)", "-pix_fmt", "rgb24", "-f", "apng", path])
    try insert(chunks, into: path)
  }

  /// Inserts chunks after the header of a PNG.
  private func insert(_ chunks: [(String, [UInt8])], into path: String) throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    bytes.insert(contentsOf: chunks.flatMap { APNGChunks.chunk($0.0, $0.1) }, at: 33)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  @Test("numbered PNGs have the orientation and the text of the first one")
  func numberedPNG() async throws {
    let folder = try TemporaryFolder()
    for number in 0..<3 {
      let path = folder.path("\(number).png")
      _ = try FFmpeg.bytes(Self.clip + ["-frames:v", "1", "-pix_fmt", "rgb24", path])
      try insert([("eXIf", Self.exif), ("tEXt", Array("Title\0Image \(number)".utf8))], into: path)
    }
    let found = try await warnings(folder.path("%d.png"), folder.path("b.mp4"))
    let expected = "left out: the text of 2 of 3 images, because the text of the first image is used for all"
    #expect(found.contains(expected), "\(found)")
    #expect(!found.contains { $0.contains("orientation") }, "\(found)")
    #expect(try probe(folder.path("b.mp4"), "format_tags=title") == ["Image 0"])
    #expect(try await Reverser(folder.path("b.mp4")).plan().streams.first?.orientation == "rotate-90")
  }

  @Test("metadata of an animated PNG is kept, or reported")
  func metadataOfPNG() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.png")
    try writePNG(
      path,
      [
        ("tEXt", Array("Title\0A title".utf8)), ("zTXt", Array("Notes\0\0x".utf8)), ("eXIf", Self.exif),
        ("gAMA", [0, 0, 0xB1, 0x8F]), ("iCCP", Array("icc\0\0x".utf8)), ("cICP", [9, 16, 0, 1]),
      ])
    let found = try await warnings(path, folder.path("b.mp4"))
    #expect(found.contains("left out: the ICC profile (iCCP)"), "\(found)")
    #expect(found.contains("left out: the colour description of the image (cICP)"), "\(found)")
    #expect(found.contains("left out: the text “Notes” (zTXt)"), "\(found)")
    #expect(!found.contains { $0.contains("gAMA") || $0.contains("EXIF") }, "\(found)")
    #expect(try probe(folder.path("b.mp4"), "format_tags=title") == ["A title"])
    let mirror = try await Reverser(folder.path("b.mp4")).plan()
    #expect(mirror.streams.first?.orientation == "rotate-90")
    #expect(try await warnings(path, folder.path("b.apng")).contains { $0.contains("title") })
    #expect(try await Verifier(path, mirror: folder.path("b.apng")).verify().isMirror)
  }

  @Test("pixels that are not square are reported, and sRGB is not", arguments: [1, 2])
  func pixelsOfPNG(_ aspect: Int) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.png")
    try writePNG(path, aspect: aspect, [("gAMA", [0, 0, 0xB1, 0x8F]), ("sRGB", [0])])
    let expected = aspect == 1 ? [] : ["left out: the pixel aspect ratio of the image (pHYs)"]
    // FFmpeg may write other metadata too.
    let found = try await warnings(path, folder.path("b.apng")).filter { $0.contains("pHYs") || $0.contains("gAMA") }
    #expect(found == expected)
  }

  /// Tests an animation and a still image.
  @Test("metadata of WebP is applied, or reported", arguments: [true, false])
  func metadataOfWebP(isAnimated: Bool) async throws {
    let folder = try TemporaryFolder()
    let (clip, path) = (folder.path("a.mkv"), folder.path("a.webp"))
    _ = try FFmpeg.bytes(Self.clip + ["-c:v", "ffv1", clip])
    if isAnimated {
      try await Reverser(clip).reverse(to: path)
    } else {
      try run(
        pipeline: "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48 ! webpenc lossless=true ! "
          + "filesink location=\"\(path)\"")
    }
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    // All bodies have an even length, so that no padding is needed.
    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] { Array(name.utf8) + little(body.count) + body }
    // A still image needs the extended header, which lists the metadata. An animation has it.
    if isAnimated {
      bytes[20] |= 0x0C
    } else {
      bytes.insert(contentsOf: chunk("VP8X", [0x0C, 0, 0, 0, 63, 0, 0, 47, 0, 0]), at: 12)
    }
    bytes += chunk("EXIF", Self.exif) + chunk("XMP ", Array("<x/>".utf8))
    bytes.replaceSubrange(4..<8, with: little(bytes.count - 8))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let found = try await warnings(path, folder.path("b.mp4"))
    #expect(found.contains("left out: the XMP metadata (XMP)"), "\(found)")
    #expect(!found.contains { $0.contains("EXIF") }, "\(found)")
    #expect(try await Reverser(folder.path("b.mp4")).plan().streams.first?.orientation == "rotate-90")
  }

  @Test("16-bit PNG is read exactly or refused, or its rounding is reported", arguments: ["rgb48be", "gray16be"])
  func deepPNG(_ format: String) async throws {
    let folder = try TemporaryFolder()
    let clip = ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=0.3", "-pix_fmt", format]
    _ = try FFmpeg.bytes(clip + [folder.path("a.apng")])
    _ = try FFmpeg.bytes(clip + ["-c:v", "png", folder.path("a.mov")])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.encoding.reencodes = true
    options.output.overwrites = true
    func mirror(_ source: String) async throws -> ([String], Bool)? {
      do {
        let summary = try await Reverser(folder.path(source), options: options).reverse(to: folder.path("m.mkv"))
        let verification = try await Verifier(folder.path(source), mirror: folder.path("m.mkv")).verify()
        return (summary.warnings.map { "\($0.message)" }, verification.isMirror)
      } catch let error as RetrogradeError where error.code == .missingPlugin {
        return nil
      }
    }
    let animation = try await mirror("a.apng")
    #expect((animation == nil) == (format == "rgb48be"))
    if let animation { #expect(animation.0.contains { $0.contains("16 bits") } && animation.1) }
    let movie = try await mirror("a.mov")
    #expect((movie == nil) == (format == "rgb48be"))
    if let movie { #expect(movie.0.isEmpty && movie.1, "\(movie)") }
  }

  @Test(
    "the field order of raw video in MOV is kept",
    arguments: [("v210", "yuv422p10le"), ("rawvideo", "uyvy422"), ("png", "rgb24")])
  func rawFieldOrder(_ codec: String, _ format: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=20:d=0.5", "-vf", "interlace=scan=tff,format=\(format)", "-c:v", codec]
        + ["-field_order", "tt", path])
    let expected = codec == "png" ? ["changed: the video's RGB becomes 4:2:0"] : []
    #expect(try await warnings(path, folder.path("b.mkv")) == expected)
    #expect(try probe(folder.path("b.mkv"), "stream=field_order") == ["bb"])
    #expect(try await Verifier(path, mirror: folder.path("b.mkv")).verify().isMirror)
  }

  /// Before version 3, FFV1 does not store the field order, so only Matroska declares it.
  @Test(
    "the field order that Matroska declares is read",
    arguments: [("ffv1 -level 1", "tt"), ("ffv1 -level 1", "bb"), ("ffv1 -level 3", "bb"), ("rawvideo", "bb")]
      as [(codec: String, order: String)],
    ["mkv", "mp4"])
  func matroskaFieldOrder(source: (codec: String, order: String), output: String) async throws {
    let folder = try TemporaryFolder()
    let (path, mirror) = (folder.path("a.mkv"), folder.path("b.\(output)"))
    let filter = "format=yuv420p,setfield=\(source.order == "tt" ? "tff" : "bff")"
    let codec = ["-c:v"] + source.codec.split(separator: " ").map(String.init)
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=20:d=0.5", "-vf", filter] + codec
        + ["-field_order", source.order, path])
    var options = ReverseOptions()
    if output == "mkv" { options.encoding.quality = .lossless }
    #expect(try await Reverser(path, options: options).reverse(to: mirror).warnings.isEmpty)
    #expect(try probe(mirror, "stream=field_order") == [source.order == "tt" ? "bb" : "tt"])
    let check = try await Verifier(path, mirror: mirror).verify().checks.first { $0.subject == "fields" }
    #expect(check?.holds == true)
  }

  /// Theora has a fixed range and matrix, to which frames are converted. Theora declares nothing
  /// else about colours.
  @Test(
    "colours that Theora can't declare are reported",
    arguments: [("bt601", "tv", "smpte170m"), ("bt601", "pc", "smpte170m"), ("bt709", "tv", "bt709"), (nil, "tv", nil)]
      as [(matrix: String?, range: String, label: String?)],
    ["b.ogv", "b.mkv"])
  func theoraColours(source: (matrix: String?, range: String, label: String?), output: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mkv")
    let label = source.label.map { "colorspace=\($0):color_primaries=\($0):color_trc=\($0):range=\(source.range)" }
    let filters =
      (source.matrix.map { ["scale=out_color_matrix=\($0):out_range=\(source.range)"] } ?? [])
      + (label.map { ["setparams=\($0)"] } ?? []) + ["format=yuv420p"]
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "smptebars=s=160x120:r=25:d=0.4", "-vf", filters.joined(separator: ","), "-c:v", "libx264"]
        + [path])
    var options = ReverseOptions()
    options.output.isVerified = true
    options.encoding.videoCodec = "theora"
    let found = try await Reverser(path, options: options).reverse(to: folder.path(output)).warnings
      .map { "\($0.message)" }
    #expect(found.count == (source.label == nil ? 0 : 1), "\(found)")
    #expect(found.allSatisfy { $0.contains("colour primaries and transfer function") })
  }

  @Test("a lost label of audio for the visually impaired or hard of hearing is reported")
  func accessibleAudio() async throws {
    let folder = try TemporaryFolder()
    for (mark, words) in [("visual_impaired", "visually impaired"), ("hearing_impaired", "hard of hearing")] {
      let path = folder.path("\(mark).ts")
      _ = try FFmpeg.bytes(
        Self.clip + Self.tone + ["-metadata:s:a", "language=eng", "-disposition:a", mark, "-c:a", "mp2", path])
      let found = try await warnings(path, folder.path("\(mark).mkv"))
      #expect(found.count == 1 && found[0].contains(words), "\(found)")
    }
  }

  /// The comment declares a bass speaker (0xb), but FLAC's own layout for three channels has none.
  @Test("speaker positions in a FLAC comment are reported")
  func flacSpeakers() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.flac")
    _ = try FFmpeg.bytes(
      Self.tone + ["-af", "pan=3.0|c0=c0|c1=c0|c2=c0", "-metadata", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0xb", path])
    let found = try await warnings(path, folder.path("b.mka"))
    #expect(found.contains { $0.contains("(0xb)") }, "\(found)")
    #expect(try await warnings(path, folder.path("b.flac")) == [])
  }

  @Test("a comment with FLAC's own speaker positions needs no warning")
  func ownLoudspeakers() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.flac")
    _ = try FFmpeg.bytes(
      Self.tone + ["-af", "aformat=channel_layouts=5.1", "-metadata", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x3f", path])
    #expect(try await warnings(path, folder.path("b.wav")) == [])
  }

  @Test("SubRip markup and text that looks like markup are told apart in MP4 and WebVTT")
  func subtitleMarkup() async throws {
    let folder = try TemporaryFolder()
    let cue = "{\\an8}<font color=\"#ff0000\">red</font> <i>is</i> a < b & c {x}"
    try Data("1\n00:00:00,100 --> 00:00:00,400\n\(cue)\n".utf8).write(to: URL(filePath: folder.path("a.srt")))
    _ = try FFmpeg.bytes(
      Self.clip + ["-i", folder.path("a.srt"), "-map", "0", "-map", "1", "-c:s", "srt", folder.path("a.mkv")])
    var options = ReverseOptions()
    options.output.subtitles = folder.path("b.vtt")
    try await Reverser(folder.path("a.mkv"), options: options).reverse(to: folder.path("b.mp4"))
    let web = try String(contentsOfFile: folder.path("b.vtt"), encoding: .utf8)
    #expect(web.contains("\nred <i>is</i> a &lt; b &amp; c {x}\n"), "\(web)")
    let text = try FFmpeg.bytes(["-i", folder.path("b.mp4"), "-map", "0:s", "-c", "copy", "-f", "data", "-"])
    #expect(text.dropFirst(2).starts(with: "red is a < b & c {x}".utf8) || text.contains("red is a < b & c {x}".utf8))
  }

  @Test("subtitles that are written to a separate file are not reported as left out")
  func subtitlesApart() async throws {
    let folder = try TemporaryFolder()
    try Data("1\n00:00:00,100 --> 00:00:00,400\nHello\n".utf8).write(to: URL(filePath: folder.path("a.srt")))
    let path = folder.path("a.mkv")
    _ = try FFmpeg.bytes(
      Self.clip + ["-i", folder.path("a.srt"), "-map", "0", "-map", "1", "-c:v", "libx264", "-c:s", "srt", path])
    #expect(try await warnings(path, folder.path("b.ts")).contains { $0.hasPrefix("left out: subtitles") })
    var options = ReverseOptions()
    options.output.overwrites = true
    options.output.isStrict = true
    options.output.subtitles = folder.path("b.srt")
    #expect(try await Reverser(path, options: options).reverse(to: folder.path("b.ts")).warnings.isEmpty)
  }

  @Test("non-ASCII comments are correct in MP3, and custom tags keep their names")
  func mp3Comments() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mp3")
    _ = try FFmpeg.bytes(
      Self.tone + ["-metadata", "comment=k\u{fc}hl \u{4e00}", "-metadata", "Key=\u{e9}t\u{e9}", path])
    #expect(try await warnings(path, folder.path("b.mp3")) == [])
    #expect(try await warnings(folder.path("b.mp3"), folder.path("c.mp3")) == [])
    for file in ["b.mp3", "c.mp3"] {
      let tags = try probe(folder.path(file), "format_tags=comment,Key")
      #expect(tags.sorted() == ["k\u{fc}hl \u{4e00}", "\u{e9}t\u{e9}"], "\(file): \(tags)")
    }
  }

  @Test("text tags of AIFF and AU are kept, and so are ID3 tags at the start of ADTS files")
  func audioFileTexts() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      Self.tone + ["-metadata", "title=T\u{fc}", "-metadata", "author=A", "-metadata", "copyright=C"]
        + ["-metadata", "comment=D", folder.path("a.aiff")])
    #expect(try await warnings(folder.path("a.aiff"), folder.path("a.flac")) == [])
    #expect(
      try probe(folder.path("a.flac"), "format_tags").sorted().filter { $0.count < 3 } == ["A", "C", "D", "T\u{fc}"])
    _ = try FFmpeg.bytes(Self.tone + ["-write_id3v2", "1", "-metadata", "title=T", folder.path("a.aac")])
    #expect(try await warnings(folder.path("a.aac"), folder.path("b.m4a")) == [])
    #expect(try probe(folder.path("b.m4a"), "format_tags=title") == ["T"])
    var au = Data(".snd".utf8)
    for number in [32, 800, 3, 8000, 1] as [UInt32] {
      withUnsafeBytes(of: number.bigEndian) { au.append(contentsOf: $0) }
    }
    au.append(Data("Noted\0\0\0".utf8) + Data(repeating: 1, count: 800))
    try au.write(to: URL(filePath: folder.path("a.au")))
    #expect(try await warnings(folder.path("a.au"), folder.path("c.flac")) == [])
    #expect(try probe(folder.path("c.flac"), "format_tags=comment,description") == ["Noted"])
  }

  @Test("ASF markers are reported")
  func asfMarkers() async throws {
    let folder = try TemporaryFolder()
    let chapters =
      ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/10\nSTART=0\nEND=2\ntitle=a\n[CHAPTER]\nTIMEBASE=1/10\n"
      + "START=2\nEND=5\ntitle=b\n"
    try Data(chapters.utf8).write(to: URL(filePath: folder.path("c.txt")))
    _ = try FFmpeg.bytes(
      Self.tone + [
        "-i", folder.path("c.txt"), "-map", "0", "-map_chapters", "1", "-c:a", "wmav2", folder.path("a.wma"),
      ])
    #expect(try await warnings(folder.path("a.wma"), folder.path("b.mkv")).contains { $0.contains("2 markers") })
  }

  @Test("an APE tag at the end of an MP3 is read in full if the file has no other tag")
  func apeTag() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(Self.tone + ["-id3v2_version", "0", "-write_xing", "0", folder.path("a.mp3")])
    func number(_ value: Int) -> Data { withUnsafeBytes(of: UInt32(value).littleEndian) { Data($0) } }
    let items = [("Title", "T"), ("Track", "3"), ("Mood", "calm")].map { name, text in
      number(text.utf8.count) + number(0) + Data("\(name)\0\(text)".utf8)
    }
    let body = items.reduce(Data(), +)
    let footer = Data("APETAGEX".utf8) + number(2000) + number(body.count + 32) + number(items.count) + number(0)
    let file = try Data(contentsOf: URL(filePath: folder.path("a.mp3"))) + body + footer + Data(count: 8)
    try file.write(to: URL(filePath: folder.path("a.mp3")))
    #expect(try await warnings(folder.path("a.mp3"), folder.path("b.flac")) == [])
    #expect(try probe(folder.path("b.flac"), "format_tags=title,track,mood").sorted() == ["3", "T", "calm"])
  }

  private func chapters(_ count: Int, in folder: TemporaryFolder) throws -> String {
    let list = (0..<count).map { "[CHAPTER]\nTIMEBASE=1/10\nSTART=\($0)\nEND=\($0 + 1)\ntitle=c\($0)\n" }
    try Data((";FFMETADATA1\n" + list.joined()).utf8).write(to: URL(filePath: folder.path("c.txt")))
    let path = folder.path("a.mka")
    let tone = ["-f", "lavfi", "-i", "sine=r=8000:d=\(Double(count) / 10)"]
    _ = try FFmpeg.bytes(
      tone + ["-i", folder.path("c.txt"), "-map", "0", "-map_chapters", "1", "-c:a", "flac", path])
    return path
  }

  /// Chapters in FLAC are a cue sheet, which has no titles.
  @Test("FLAC keeps chapter times; lost titles are named", arguments: ["b.flac", "b.ogg", "b.oga"])
  func chapterTitles(output: String) async throws {
    let folder = try TemporaryFolder()
    let path = try chapters(2, in: folder)
    var options = ReverseOptions()
    options.output.isVerified = true
    let summary = try await Reverser(path, options: options).reverse(to: folder.path(output))
    let found = summary.warnings.map { "\($0.message)" }
    #expect(found == ["left out: the titles of 2 chapters, which this container can't hold"])
  }

  /// flacenc 1.22 crashes if there are more than 127 chapters.
  @Test("chapters beyond the 127 that flacenc can write are reported")
  func manyChapters() async throws {
    let folder = try TemporaryFolder()
    let found = try await warnings(try chapters(130, in: folder), folder.path("b.flac"))
    #expect(
      found == [
        "left out: 3 of 130 chapters, from 0:00:12.700 of the output on: this container can hold only 127",
        "left out: the titles of 130 chapters, which this container can't hold",
      ])
  }

  /// The extension selects the GStreamer elements: `.bin` is also read by apedemux.
  @Test("True Audio keeps its tags", arguments: ["a.tta", "a.bin"], ["b.mka", "b.flac", "b.wav"])
  func trueAudioTags(source: String, output: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(source)
    let tags = ["title=T", "artist=Art", "album=Alb", "genre=Gen", "comment=Com", "copyright=Cop", "isrc=Isr"]
    let wide = ["composer=Comp", "track=3/9", "disc=1/2", "own=Own"]
    let given = (tags + (output == "b.wav" ? [] : wide)).flatMap { ["-metadata", $0] }
    _ = try FFmpeg.bytes(Self.tone + ["-c:a", "tta"] + given + ["-f", "tta", path])
    #expect(try await warnings(path, folder.path(output)) == [])
    let read = try probe(folder.path(output), "format_tags")
    for value in ["T", "Art", "Alb", "Gen", "Com", "Cop", "Isr"] { #expect(read.contains(value), "\(value)") }
    guard output != "b.wav" else { return }
    for value in ["Comp", "Own", "3", "9", "1", "2"] { #expect(read.contains(value), "\(value)") }
  }

  @Test("tags of an Ogg video are kept in the audio stream, or reported if there is none")
  func oggVideoTags() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.ogv")
    let tags = ["-metadata", "title=T", "-metadata", "artist=A", "-metadata", "custom=c", path]
    _ = try FFmpeg.bytes(Self.clip + Self.tone + ["-c:v", "libtheora", "-c:a", "libvorbis"] + tags)
    #expect(try await warnings(path, folder.path("b.ogv")) == [])
    let kept = try probe(folder.path("b.ogv"), "stream_tags=title,artist,custom:format_tags=title,artist,custom")
    #expect(Set(kept) == ["T", "A", "c"])
    _ = try FFmpeg.bytes(Self.clip + ["-c:v", "libtheora", "-y"] + tags)
    let found = try await warnings(path, folder.path("c.ogv"))
    #expect(found.count == 1 && ["title", "artist", "custom"].allSatisfy(found[0].contains), "\(found)")
  }

  @Test("halved chroma of RGB is reported")
  func rgbChroma() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(Self.clip + ["-pix_fmt", "rgb24", "-c:v", "png", folder.path("a.mov")])
    #expect(
      try await warnings(folder.path("a.mov"), folder.path("b.webm")) == ["changed: the video's RGB becomes 4:2:0"])
    #expect(try await warnings(folder.path("a.mov"), folder.path("b.mov")) == [])
  }

  @Test("forced subtitles of MP4 are read")
  func forcedSubtitles() async throws {
    let folder = try TemporaryFolder()
    try Data("1\n00:00:00,100 --> 00:00:00,400\nHello\n".utf8).write(to: URL(filePath: folder.path("a.srt")))
    _ = try FFmpeg.bytes(
      Self.clip + ["-i", folder.path("a.srt"), "-map", "0", "-map", "1", "-c:s", "mov_text", folder.path("a.mp4")])
    for (flags, forced, count) in [(0x80 as UInt8, "1", 0), (0x40, "0", 1)] {
      let url = URL(filePath: folder.path("a.mp4"))
      var bytes = try Data(contentsOf: url)
      let entry = try #require(bytes.range(of: Data("tx3g".utf8))?.lowerBound)
      bytes[entry + 12] = flags
      try bytes.write(to: url)
      let found = try await warnings(folder.path("a.mp4"), folder.path("b.mkv"))
      #expect(found.count == count, "\(found)")
      #expect(try probe(folder.path("b.mkv"), "stream_disposition=forced", of: "s") == [forced])
    }
  }

  @Test("track flags that are lost are reported")
  func trackFlags() async throws {
    let folder = try TemporaryFolder()
    try Data("1\n00:00:00,100 --> 00:00:00,400\nHello\n".utf8).write(to: URL(filePath: folder.path("a.srt")))
    let streams = Self.clip + Self.tone + ["-i", folder.path("a.srt"), "-map", "0", "-map", "1", "-map", "2"]
    _ = try FFmpeg.bytes(
      streams + ["-c:s", "mov_text", "-disposition:a", "default+comment", folder.path("a.mp4")])
    let found = try await warnings(folder.path("a.mp4"), folder.path("b.mkv"))
    #expect(found.count == 1 && found[0].contains("commentary"), "\(found)")
    // Tests the opposite direction, from Matroska to MP4.
    _ = try FFmpeg.bytes(streams + ["-c:s", "srt", "-disposition:s", "default+forced", folder.path("f.mkv")])
    let named = try await warnings(folder.path("f.mkv"), folder.path("f.mp4"))
    #expect(named.count { $0.contains("subtitles are off") } == 1)
    #expect(try await warnings(folder.path("f.mkv"), folder.path("g.mkv")).isEmpty)
  }

  /// The frame is shown for longer than the longest gap that a demuxer accepts.
  @Test("a frame in a transport stream can be shown for seconds", arguments: [(4, true), (7, true), (7, false)])
  func heldFrame(seconds: Int, hasAudio: Bool) async throws {
    let folder = try TemporaryFolder()
    let tone = ["-f", "lavfi", "-i", "sine=d=\(seconds + 2):r=48000"]
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2,setpts='PTS+if(gt(N,20),\(seconds)/TB,0)'"]
        + (hasAudio ? tone : [])
        + ["-fps_mode", "passthrough", "-c:v", "libx264", "-bf", "0", "-c:a", "mp2", folder.path("a.ts")])
    var options = ReverseOptions()
    options.output.isVerified = true
    let result = try await Reverser(folder.path("a.ts"), options: options).reverse(to: folder.path("b.mkv"))
    #expect(result.warnings.isEmpty)
    let times = try probe(folder.path("b.mkv"), "packet=pts_time", of: "v").compactMap { Double($0) }.sorted()
    let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    #expect(abs(longest - Double(seconds) - 0.04) < 0.01, "\(longest)")
  }

  /// The first frame is shown while only audio plays. Packets of later frames are decoded before
  /// the first frame ends.
  @Test("a file lasts as long as its longest track", arguments: ["mp4", "mov", "ts"])
  func fileDuration(output: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      [
        "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=1", "-f", "lavfi", "-i", "sine=d=5:r=48000", "-c:v", "libx264",
        "-bf", "2", "-c:a", "aac", folder.path("a.mp4"),
      ])
    try await Reverser(folder.path("a.mp4")).reverse(to: folder.path("b.\(output)"))
    let length = try probe(folder.path("b.\(output)"), "format=duration").compactMap { Double($0) }.first ?? 0
    #expect(abs(length - 5) < 0.2, "\(length)")
    var options = ReverseOptions()
    options.output.isVerified = true
    try await Reverser(folder.path("b.\(output)"), options: options).reverse(to: folder.path("c.mkv"))
  }
}
