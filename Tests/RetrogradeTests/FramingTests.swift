import Containers
import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// 4:2:0 frame of three planes. Its geometry code is independent of the engine's, so that the tests
/// can compare the two results.
private struct Picture: Equatable {
  struct Plane: Equatable {
    var width: Int
    var height: Int
    var values: [UInt8]

    func cropped(x: Int, y: Int, width: Int, height: Int) -> Plane {
      Plane(
        width: width, height: height,
        values: (0..<height).flatMap { row in (0..<width).map { values[(y + row) * self.width + x + $0] } })
    }

    /// The plane rotated clockwise by 90°.
    var rotated: Plane {
      Plane(
        width: height, height: width,
        values: (0..<width).flatMap { row in (0..<height).map { values[(height - 1 - $0) * width + row] } })
    }

    var flipped: Plane {
      Plane(
        width: width, height: height,
        values: (0..<height).flatMap { row in (0..<width).map { values[row * width + width - 1 - $0] } })
    }
  }

  var planes: [Plane]
  var width: Int { planes[0].width }
  var height: Int { planes[0].height }

  /// Makes a frame whose neighbouring pixels differ. Frames with different numbers differ, too.
  init(width: Int, height: Int, number: Int) {
    planes = [0, 1, 1].enumerated().map { plane, shift in
      let (w, h) = (width >> shift, height >> shift)
      let values = (0..<w * h).map { (place: Int) -> UInt8 in
        let sum = place % w * 7 + place / w * 13 + number * 5 + plane * 40
        return UInt8(16 + sum % 200)
      }
      return Plane(width: w, height: h, values: values)
    }
  }

  /// Reads a frame from bytes in GStreamer's I420 layout.
  init(width: Int, height: Int, bytes: [UInt8]) {
    var place = 0
    planes = [0, 1, 1].map { shift in
      let (w, h) = (width >> shift, height >> shift)
      let stride = (w + 3) / 4 * 4
      defer { place += stride * ((height + 1) / 2 * 2 >> shift) }
      return Plane(
        width: w, height: h, values: (0..<h).flatMap { Array(bytes[place + $0 * stride..<place + $0 * stride + w]) })
    }
  }

  var bytes: [UInt8] {
    planes.flatMap { plane -> [UInt8] in
      let padding = [UInt8](repeating: 0, count: (plane.width + 3) / 4 * 4 - plane.width)
      return (0..<plane.height).flatMap { (row: Int) -> [UInt8] in
        plane.values[row * plane.width..<(row + 1) * plane.width] + padding
      }
    }
  }

  private func mapped(_ change: (Plane) -> Plane) -> Picture {
    var picture = self
    picture.planes = planes.map(change)
    return picture
  }

  func cropped(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Picture {
    var picture = self
    picture.planes = zip(planes, [0, 1, 1]).map {
      $0.cropped(x: x >> $1, y: y >> $1, width: width >> $1, height: height >> $1)
    }
    return picture
  }

  func rotated(by quarters: Int) -> Picture { (0..<quarters).reduce(self) { picture, _ in picture.mapped(\.rotated) } }
  var flipped: Picture { mapped(\.flipped) }

  /// Returns the frame as it is displayed with this value of GST_TAG_IMAGE_ORIENTATION.
  func shown(by orientation: String?) -> Picture {
    guard let orientation, let degrees = orientation.split(separator: "-").last.flatMap({ Int($0) }) else {
      return self
    }
    return (orientation.hasPrefix("flip") ? flipped : self).rotated(by: degrees / 90)
  }
}

@Suite struct FramingTests {
  private static let (width, height, count) = (96, 64, 6)

  /// Writes a lossless file. Returns its path, and its frames as displayed.
  private func film(_ folder: TemporaryFolder, orientation: String? = nil) throws -> (path: String, [Picture]) {
    let frames = (0..<FramingTests.count).map {
      Picture(width: FramingTests.width, height: FramingTests.height, number: $0)
    }
    let path = folder.path(orientation == nil ? "film.mkv" : "film.mov")
    let pipeline = try Pipeline(
      "appsrc name=in format=time ! "
        + (orientation == nil
          ? "avenc_ffv1 ! matroskamux" : "x264enc pass=quant quantizer=0 speed-preset=ultrafast ! h264parse ! qtmux")
        + " ! filesink location=\(path)")
    let source = try pipeline.appSource("in")
    source.setCaps(
      try #require(
        Caps(
          "video/x-raw,format=I420,width=\(FramingTests.width),height=\(FramingTests.height),framerate=25/1,pixel-aspect-ratio=1/1,"
            + "colorimetry=bt709")))
    pipeline.set(.playing)
    for (number, frame) in frames.enumerated() {
      let bytes = frame.bytes
      let buffer = try Buffer(size: bytes.count) { $0.copyBytes(from: bytes) }
      buffer.stamp(
        pts: ClockTime(nanoseconds: Int64(number) * 40_000_000), duration: ClockTime(nanoseconds: 40_000_000))
      _ = source.push(buffer)
    }
    source.endOfStream()
    while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .endOfStream = message { break }
      if case .failed(let error) = message { throw error }
    }
    pipeline.set(.null)
    if orientation != nil {
      var header = MP4Header()
      header.videos = [.init(orientation: orientation)]
      try header.apply(to: path)
    }
    return (path, frames.map { $0.shown(by: orientation) })
  }

  /// Reads the frames of a file, as stored in the file.
  private func read(_ path: String) throws -> [Picture] {
    let pipeline = try Pipeline(
      "filesrc location=\(path) ! decodebin ! video/x-raw,format=I420 ! appsink name=out sync=false")
    defer { pipeline.set(.null) }
    let sink = try pipeline.appSink("out")
    pipeline.set(.playing)
    var found: [Picture] = []
    while let sample = sink.pull(timeout: ClockTime(seconds: 20)), let caps = sample.caps {
      let plain = try sample.buffer.inPlainLayout(caps)
      found.append(
        Picture(
          width: caps.int("width") ?? 0, height: caps.int("height") ?? 0, bytes: try plain.withBytes { Array($0) }))
    }
    return found
  }

  private func lossless(_ framing: Framing) -> ReverseOptions {
    ReverseOptions(encoding: EncodingOptions(quality: .lossless, framing: framing))
  }

  @Test(
    "a crop is exact to the pixel",
    arguments: [nil, "rotate-90", "rotate-180", "rotate-270", "flip-rotate-0", "flip-rotate-90", "flip-rotate-180"])
  func exactCrop(_ orientation: String?) async throws {
    let folder = try TemporaryFolder()
    let (path, frames) = try film(folder, orientation: orientation)
    var options = lossless(Framing(crop: .area(width: 48, height: 32, at: .init(x: 10, y: 6))))
    options.output.isVerified = true
    try await Reverser(path, options: options).reverse(to: folder.path("out.mkv"))
    let expected = frames.reversed().map { $0.cropped(10, 6, 48, 32) }
    #expect(try read(folder.path("out.mkv")) == expected)
    // In MOV, which has an orientation tag, the output keeps the source's orientation.
    guard let orientation else { return }
    try await Reverser(path, options: options).reverse(to: folder.path("out.mov"))
    #expect(try read(folder.path("out.mov")).map { $0.shown(by: orientation) } == expected)
  }

  @Test(
    "rotation and flip are exact to the pixel", arguments: ["rotate-0", "rotate-90", "flip-rotate-270"],
    [Framing.Rotation.quarter, .half, .threeQuarters])
  func exactRotation(_ orientation: String, _ rotation: Framing.Rotation) async throws {
    let folder = try TemporaryFolder()
    let (path, frames) = try film(folder, orientation: orientation)
    for flip in [nil, Framing.Flip.horizontal, .vertical] {
      var options = lossless(
        Framing(crop: .area(width: 32, height: 48, at: .init(x: 4, y: 2)), rotation: rotation, flip: flip))
      options.output.isVerified = true
      options.output.overwrites = true
      try await Reverser(path, options: options).reverse(to: folder.path("out.mov"))
      let rotated = frames.reversed().map { $0.cropped(4, 2, 32, 48).rotated(by: rotation.rawValue / 90) }
      let expected = rotated.map {
        flip == .horizontal ? $0.flipped : flip == .vertical ? $0.rotated(by: 2).flipped : $0
      }
      #expect(try read(folder.path("out.mov")) == expected, "the pixels are rotated, not the header")
      #expect(
        try DecodedMedia(folder.path("out.mov"), like: .matroska).tags?.string("image-orientation") ?? "rotate-0"
          == "rotate-0")
    }
  }

  private func geometry(
    _ caps: String, _ framing: Framing, _ name: String = "a.mp4", orientation: String? = nil
  ) throws -> FrameGeometry {
    try FrameGeometry(
      try #require(Caps("video/x-raw,\(caps)")), orientation: orientation, framing, for: try Container.of(name))
  }

  /// The arguments end with the expected properties of videocrop and the expected size.
  @Test(
    "crops are rounded down",
    arguments: [
      ("9:16", "a.mp4", nil, "left=438 right=438 top=0 bottom=0", "404x720"),
      ("1:1", "a.mp4", nil, "left=280 right=280 top=0 bottom=0", "720x720"),
      ("2.39:1", "a.mp4", nil, "left=0 right=0 top=92 bottom=94", "1280x534"),
      ("9:16@100,0", "a.mp4", nil, "left=100 right=776 top=0 bottom=0", "404x720"),
      ("9:16", "a.mp4", "rotate-90", "left=0 right=0 top=0 bottom=0", "1280x720"),
      ("1:1", "a.mp4", "rotate-90", "left=280 right=280 top=0 bottom=0", "720x720"),
      ("641x361+101+51", "a.mp4", nil, "left=100 right=540 top=50 bottom=310", "640x360"),
      ("641x361+101+51", "a.png", nil, "left=100 right=539 top=50 bottom=309", "641x361"),
      ("641x361+101+51", "a.mp4", "rotate-180", "left=540 right=100 top=310 bottom=50", "640x360"),
      ("641x361", "a.mp4", nil, "left=320 right=320 top=180 bottom=180", "640x360"),
    ])
  func roundedCrops(_ crop: String, _ name: String, _ orientation: String?, _ cut: String, _ size: String) throws {
    let framing = Framing(crop: Framing.Crop(parsing: crop))
    let name = name == "a.png" ? "a%d.png" : name
    let made = try geometry("format=I420,width=1280,height=720", framing, name, orientation: orientation)
    #expect(made.cutting.contains("videocrop \(cut)"), "\(made.cutting)")
    #expect("\(made.caps.int("width") ?? 0)x\(made.caps.int("height") ?? 0)" == size)
  }

  @Test("images without chroma subsampling can be cropped at any pixel")
  func cropWithoutSubsampling() throws {
    let framing = Framing(crop: .area(width: 33, height: 21, at: .init(x: 7, y: 5)))
    let cut = try geometry("format=RGB,width=64,height=48", framing, "a%d.png").cutting
    #expect(cut.contains("videocrop left=7 right=24 top=5 bottom=22"))
  }

  @Test("crops of non-square pixels use display coordinates")
  func nonSquarePixels() throws {
    // 720x576, displayed as 1024x576.
    let caps = "format=I420,width=720,height=576,pixel-aspect-ratio=(fraction)64/45"
    let made = try geometry(caps, Framing(crop: .area(width: 512, height: 576, at: .init(x: 512, y: 0))))
    #expect(made.cutting.contains("videocrop left=360 right=0 top=0 bottom=0"))
    #expect((made.caps.int("width"), made.caps.int("height")) == (360, 576))
    let rotated = try geometry(caps, Framing(rotation: .quarter))
    #expect(rotated.caps.fraction("pixel-aspect-ratio").map { [$0.numerator, $0.denominator] } == [45, 64])
    let scaled = try geometry(caps, Framing(crop: .shape(width: 1, height: 1), scale: .fit(width: 300, height: 400)))
    #expect((scaled.size?.width, scaled.size?.height) == (300, 300))
  }

  @Test(
    "scaled sizes are even and within the limits",
    arguments: [
      (Framing.Scale.width(480), 480, 270), (.height(271), 482, 272), (.fit(width: 1080, height: 1920), 1080, 608),
      (.fit(width: 3000, height: 3000), 3000, 1688), (.pad(width: 1080, height: 1920), 1080, 1920),
      (.limit(width: 640, height: 640), 640, 360),
    ])
  func scaledSizes(_ scale: Framing.Scale, _ width: Int, _ height: Int) throws {
    let made = try geometry("format=I420,width=1280,height=720", Framing(scale: scale))
    #expect((made.size?.width, made.size?.height) == (width, height))
    // A phone stores video rotated. The scaled video remains rotated.
    let phone = try geometry("format=I420,width=720,height=1280", Framing(scale: scale), orientation: "rotate-90")
    #expect((phone.size?.width, phone.size?.height) == (height, width) && phone.orientation == "rotate-90")
    let upright = try geometry(
      "format=I420,width=720,height=1280", Framing(scale: scale), "a.mkv", orientation: "rotate-90")
    #expect((upright.size?.width, upright.size?.height) == (width, height) && upright.orientation == nil)
  }

  @Test("a frame within the limit is not scaled")
  func withinLimit() throws {
    let made = try geometry("format=I420,width=640,height=361", Framing(scale: .limit(width: 640, height: 640)))
    #expect(made.size == nil)
  }

  @Test("a crop outside the frame is refused")
  func invalidCrops() throws {
    for text in ["200x10", "90x60+10+0", "9:16@80,0"] {
      let error = #expect(throws: RetrogradeError.self) {
        try geometry("format=I420,width=96,height=64", Framing(crop: Framing.Crop(parsing: text)))
      }
      #expect(error?.code == .usage && error?.message.contains("frame, which has 96x64") ?? false)
    }
    for text in ["", "9:", "0:1", "9:16@", "-1x4", "4x4+1", "4x4+1+-1", "1e400:1", "4"] {
      #expect(Framing.Crop(parsing: text) == nil, "\(text)")
    }
  }

  @Test("a padded frame has black bars")
  func paddedFrame() async throws {
    let folder = try TemporaryFolder()
    try run(
      pipeline:
        "videotestsrc pattern=white num-buffers=3 ! video/x-raw,format=I420,width=96,height=64,framerate=25/1 ! "
        + "avenc_ffv1 ! matroskamux ! filesink location=\(folder.path("white.mkv"))")
    let options = lossless(Framing(scale: .pad(width: 96, height: 128)))
    try await Reverser(folder.path("white.mkv"), options: options).reverse(to: folder.path("out.mkv"))
    let frame = try #require(try read(folder.path("out.mkv")).last)
    let luma = (0..<128).map { Array(frame.planes[0].values[$0 * 96..<($0 + 1) * 96]) }
    #expect(luma == (0..<128).map { Array(repeating: (32..<96).contains($0) ? 235 : 16, count: 96) })
  }

  /// By default, videoscale 1.22 adds borders to compensate for rounded sizes.
  @Test("a scaled frame has no bars")
  func scaledFrame() async throws {
    let folder = try TemporaryFolder()
    try run(
      pipeline:
        "videotestsrc pattern=white num-buffers=2 ! video/x-raw,format=I420,width=640,height=360,framerate=25/1 ! "
        + "avenc_ffv1 ! matroskamux ! filesink location=\(folder.path("white.mkv"))")
    try await Reverser(folder.path("white.mkv"), options: lossless(Framing(scale: .width(250))))
      .reverse(to: folder.path("out.mkv"))
    let frame = try #require(try read(folder.path("out.mkv")).last)
    #expect((frame.width, frame.height) == (250, 140))
    #expect(frame.planes[0].values.allSatisfy { $0 == 235 })
  }

  @Test("animations are cropped and rotated", arguments: ["gif", "webp", "apng"])
  func animations(_ format: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(4, rate: 25)
    var options = ReverseOptions()
    options.encoding.framing = Framing(crop: .shape(width: 1, height: 1), rotation: .half, scale: .width(33))
    try await Reverser(try media.write(to: folder), options: options).reverse(to: folder.path("out.\(format)"))
    let read = try DecodedAnimation(folder.path("out.\(format)"))
    // The crop and the rotation change the numbers in the frames, so the frames are only counted.
    #expect((read.width, read.height) == (33, 33) && read.numbers.count == 4)
  }

  @Test("video whose packets could be copied is decoded if it must be rotated")
  func decodedForFraming() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.video = "jpegenc"
    media.times = TestMedia.regular(4, rate: 25)
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.framing.rotation = .half
    try await Reverser(source, options: options).reverse(to: folder.path("out.mkv"))
    let read = try DecodedMedia(folder.path("out.mkv"), like: media)
    func rotated(_ number: Int) -> Int { (0..<16).reduce(0) { $0 | (number >> $1 & 1) << (15 - $1) } }
    #expect(read.numbers == [3, 2, 1, 0].map(rotated))
    options.playback.loop = .pingPong
    options.encoding.copiesForward = true
    options.encoding.reencodes = true
    media.video = "x264enc ! h264parse"
    media.name = "h264.mkv"
    let refused = await #expect(throws: RetrogradeError.self) {
      try await Reverser(try media.write(to: folder), options: options).reverse(to: folder.path("copied.mkv"))
    }
    #expect(refused?.message.contains("`encoding.framing.rotation` changes every frame") ?? false)
  }

  @Test("verify rejects a crop at another position")
  func otherCropPosition() async throws {
    let folder = try TemporaryFolder()
    let (path, _) = try film(folder)
    var options = lossless(Framing(crop: .area(width: 48, height: 32, at: .init(x: 10, y: 6))))
    try await Reverser(path, options: options).reverse(to: folder.path("out.mkv"))
    var verifier = Verifier(path, mirror: folder.path("out.mkv"), options: options, isLossless: true)
    #expect(try await verifier.verify().isMirror)
    options.encoding.framing.crop = .area(width: 48, height: 32, at: .init(x: 12, y: 6))
    verifier.options = options
    #expect(try await !verifier.verify().isMirror)
  }

  @Test("interlaced video is deinterlaced before rotation")
  func deinterlacing() async throws {
    let folder = try TemporaryFolder()
    try run(
      pipeline: "videotestsrc pattern=ball num-buffers=8 ! video/x-raw,format=I420,width=96,height=64,framerate=50/1 ! "
        + "interlace field-pattern=1:1 top-field-first=true ! avenc_ffv1 ! matroskamux ! "
        + "filesink location=\(folder.path("in.mkv"))")
    var options = lossless(Framing(rotation: .quarter))
    options.output.isVerified = true
    let summary = try await Reverser(folder.path("in.mkv"), options: options).reverse(to: folder.path("out.mkv"))
    #expect(summary.warnings.contains { $0.code == .converted && $0.message.description.contains("progressive") })
    #expect(try DecodedMedia(folder.path("out.mkv"), like: .matroska).videoCaps?.isInterlaced == false)
    // The two fields can be scaled separately, so no deinterlacing is needed.
    options = lossless(Framing(scale: .width(48)))
    let scaled = try await Reverser(folder.path("in.mkv"), options: options).reverse(to: folder.path("small.mkv"))
    #expect(scaled.warnings.isEmpty)
  }

  @Test("a smaller frame has a lower bit rate")
  func bitrateShare() throws {
    let caps = "format=I420,width=1280,height=720"
    func share(_ framing: Framing) throws -> Double { try geometry(caps, framing).rateShare }
    #expect(try share(Framing()) == 1)
    #expect(try share(Framing(crop: .area(width: 640, height: 360))) == 0.25)
    #expect(try abs(share(Framing(scale: .width(640))) - 0.3536) < 0.001)
    #expect(try share(Framing(scale: .width(2560))) == 1)
    #expect(try share(Framing(rotation: .quarter)) == 1)
  }

  @Test("chunks have the same crop, rotation and size as a run without chunks")
  func framedChunks() async throws {
    let folder = try TemporaryFolder()
    let (path, frames) = try film(folder, orientation: "rotate-90")
    let options = lossless(Framing(crop: .area(width: 48, height: 64, at: .init(x: 8, y: 16)), flip: .horizontal))
    _ = try await Reverser(path, options: options)
      .start(to: folder.path("out.mov"), in: folder.path("work"), jobs: 1, chunks: .count(1)).summary()
    #expect(try read(folder.path("out.mov")) == frames.reversed().map { $0.cropped(8, 16, 48, 64).flipped })
  }
}
