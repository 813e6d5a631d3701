import GStreamer
import MediaTime
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// The checks of `verify`, one by one, with faults that tests with whole files do not cause.
@Suite struct VerifyPartsTests {
  private static let starts = (0..<4).map { ClockTime(nanoseconds: $0 * 40_000_000) }

  private static func plain(_ hashes: [UInt64?]) -> PlainFrames {
    PlainFrames(zip(starts, hashes).map { PlainFrames.Frame(time: $0, hash: $1) }, comparedWith: starts)
  }

  @Test("a source frame that differs if it is decoded without seeks is reported")
  func corruptSourceFrame() {
    var check = SourceFrameCheck(VerifyPartsTests.plain([1, 2, 3, 4]))
    for (number, hash) in [1, 9, 8, 4].enumerated() { check.add(UInt64(hash), number: number) }
    #expect(!check.check("").holds)
    #expect(check.check("").figures["differing"] == 2)
    #expect(check.differing?.first == VerifyPartsTests.starts[1])
    #expect(check.differing?.last == VerifyPartsTests.starts[2])
  }

  @Test("source frames in a wrong order are reported")
  func exchangedSourceFrames() {
    var check = SourceFrameCheck(VerifyPartsTests.plain([1, 2, 3, 4]))
    for (number, hash) in [1, 3, 2, 4].enumerated() { check.add(UInt64(hash), number: number) }
    #expect(check.check("").figures["differing"] == 2)
  }

  @Test("a differing frame counts as damaged if a second decode without seeks repeats its pixels")
  func concealedSourceFrame() {
    var check = SourceFrameCheck(VerifyPartsTests.plain([1, 2, 3, 4]))
    for (number, hash) in [1, 9, 8, 4].enumerated() { check.add(UInt64(hash), number: number) }
    check.excludeFrames(damagedBy: VerifyPartsTests.plain([1, 9, 3, 4]))
    #expect(check.differing?.count == 1 && check.differing?.first == VerifyPartsTests.starts[2])
    #expect(check.check("").figures["damaged"] == 1)
  }

  /// Returns a thumbnail in which a quarter of the pixels is brighter by `share` times `level`.
  private static func thumbnail(share: Double, level: Double) -> Thumbnail {
    let count = Thumbnail.width * Thumbnail.height
    return Thumbnail(pixels: (0..<count).map { UInt8(100 + ($0 % 4 == 0 ? (share * level).rounded() : 0)) })
  }

  /// Between thumbnails, a difference of 5 levels in a quarter of the pixels is a PSNR of 40 dB. A
  /// difference of 20 levels is 28 dB.
  @Test(
    "in a nearly still scene, a codec may keep some pixels of the previous frame",
    arguments: [(5.0, 0.6, false), (5, 1, true), (20, 0.6, true), (20, 0.4, false)])
  func nearlyStill(_ level: Double, _ share: Double, _ isMisplaced: Bool) {
    let own = VerifyPartsTests.thumbnail(share: 0, level: level)
    let neighbour = VerifyPartsTests.thumbnail(share: 1, level: level)
    let mirrored = VerifyPartsTests.thumbnail(share: share, level: level)
    #expect(mirrored.shows(neighbour, insteadOf: own) == isMisplaced)
  }

  @Test("a frame has the same thumbnail in RGB and in YUV of either range", arguments: [1, 2])
  func thumbnailsOfRanges(_ range: Int) throws {
    let (width, height) = (320, 192)
    let size = "width=\(width),height=\(height),pixel-aspect-ratio=(fraction)1/1,framerate=(fraction)25/1"
    let rgb = try #require(Caps("video/x-raw,format=RGBx,\(size)"))
    let yuv = try #require(Caps("video/x-raw,format=I420,\(size),colorimetry=\(range):4:0:0"))
    let frame = try Buffer(size: width * height * 4) { bytes in
      for place in bytes.indices { bytes[place] = UInt8(place / 4 % width * 255 / width) }
    }
    func converted(_ frame: Buffer, from caps: Caps, to form: String) throws -> Buffer {
      try FrameConverter(caps, orientation: nil, to: form, Cancellation()).convert(frame, caps)
    }
    let other = try converted(frame, from: rgb, to: yuv.description)
    let thumbnails = try [(frame, rgb), (other, yuv)].map { frame, caps in
      try Thumbnail(converted(frame, from: caps, to: Thumbnail.form(of: caps)), of: caps)
    }
    #expect(thumbnails[0].pixels[10] < 20 && thumbnails[0].pixels[150] > 235)
    #expect(zip(thumbnails[0].pixels, thumbnails[1].pixels).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
  }

  @Test("frames that differ only in the colours of transparent pixels have the same pixels")
  func hiddenColours() throws {
    let caps = try #require(Caps("video/x-raw,format=BGRA,width=2,height=1,framerate=(fraction)0/1"))
    func frame(_ pixels: [UInt8]) throws -> Buffer { try Buffer(size: pixels.count) { $0.copyBytes(from: pixels) } }
    let own = try frame([9, 8, 7, 0, 1, 2, 3, 255])
    #expect(try own.hasSamePixels(as: frame([4, 5, 6, 0, 1, 2, 3, 255]), caps))
    #expect(try !own.hasSamePixels(as: frame([9, 8, 7, 1, 1, 2, 3, 255]), caps), "another alpha")
    #expect(try !own.hasSamePixels(as: frame([9, 8, 7, 0, 1, 2, 4, 255]), caps), "another colour")
  }

  @Test("colours are multiplied by their alpha, which may first be rounded like another frame's")
  func premultipliedColours() throws {
    let caps = try #require(Caps("video/x-raw,format=BGRA,width=4,height=1,framerate=(fraction)0/1"))
    func frame(_ pixels: [UInt8]) throws -> Buffer { try Buffer(size: pixels.count) { $0.copyBytes(from: pixels) } }
    let own = try frame([200, 100, 50, 0, 200, 100, 50, 51, 200, 100, 50, 51, 200, 100, 50, 255])
    let kept = try own.premultiplied(caps, roundedLike: nil).withBytes(Array.init)
    #expect(kept == [0, 0, 0, 0, 40, 20, 10, 51, 40, 20, 10, 51, 200, 100, 50, 255])
    let other = try frame([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0])
    let rounded = try own.premultiplied(caps, roundedLike: other).withBytes(Array.init)
    #expect(rounded == [0, 0, 0, 0, 200, 100, 50, 255, 0, 0, 0, 0, 200, 100, 50, 255])
  }

  @Test("frames that the decoder reports as damaged are counted, but not compared")
  func damagedSourceFrame() {
    var check = SourceFrameCheck(VerifyPartsTests.plain([1, nil, 3, 4]))
    for (number, hash) in [1, 7, 3, 4].enumerated() { check.add(UInt64(hash), number: number) }
    #expect(check.check("").holds)
    #expect(check.check("").figures["damaged"] == 1)
  }

  /// Compares a second of stereo noise with the result of `change`.
  private static func finding(
    _ exactness: AudioComparison.Exactness = .alike, mask: UInt64 = 3,
    _ change: (_ frame: Int, _ sample: Float32) -> Float32
  ) -> SampleWindows.Finding {
    var (state, own): (UInt32, [Float32]) = (1, [])
    for _ in 0..<16_000 {
      state = state &* 1_664_525 &+ 1_013_904_223
      own.append(Float32(Int32(bitPattern: state)) / Float32(Int32.max) / 4)
    }
    let other = own.enumerated().map { change($0.offset / 2, $0.element) }
    var windows = SampleWindows(rate: 8000, channels: 2, mask: mask)
    windows.add(own[...], other[...])
    windows.finish()
    return windows.finding(exactness)
  }

  @Test("200 ms of silence are found and located", arguments: [AudioComparison.Exactness.rounded, .alike])
  func silence(_ exactness: AudioComparison.Exactness) {
    let found = VerifyPartsTests.finding(exactness) { (3200..<4800).contains($0) ? 0 : $1 }
    #expect(found.differing.count == 8 && found.differing.first == 8 && found.differing.last == 11)
  }

  @Test("a range at half the level is found")
  func quieterStretch() {
    let found = VerifyPartsTests.finding { (3200..<4800).contains($0) ? $1 / 2 : $1 }
    #expect(found.louder.count == 8 && found.differing.count == 0)
  }

  /// libvorbis makes an LFE channel up to 2.3 dB louder. The masks mean front left with front right,
  /// and front left with LFE.
  @Test("an LFE channel may differ by 4 dB", arguments: [(0x3, 1.3, 20), (0x9, 1.3, 0), (0x9, 1.7, 20)])
  func lowFrequencyLevel(_ mask: Int, _ factor: Double, _ count: Int) {
    var isSecond = false
    let found = VerifyPartsTests.finding(mask: UInt64(mask)) {
      defer { isSecond.toggle() }
      return isSecond ? $1 * Float32(factor) : $1
    }
    #expect(found.louder.count == count && found.differing.count == 0)
  }

  @Test("a level 1 dB lower is measured")
  func gain() throws {
    let found = VerifyPartsTests.finding { $1 * 0.891 }
    #expect(abs(try #require(found.gain) + 1) < 0.01)
  }

  @Test("inverted audio is found by exact and inexact checks", arguments: [AudioComparison.Exactness.rounded, .alike])
  func inverted(_ exactness: AudioComparison.Exactness) {
    #expect(VerifyPartsTests.finding(exactness) { -$1 }.differing.count == 40)
  }

  @Test("rounding to 16 bits does not count as a difference")
  func rounding() {
    let found = VerifyPartsTests.finding(.rounded) { Float32(($1 * 32_768).rounded()) / 32_768 }
    #expect(found.differing.count == 0)
  }

  /// Returns the block means of a grey frame of 64x32 with a square of the grey level `square`; nil
  /// for no square.
  private static func means(_ level: UInt8, square: UInt8? = nil) throws -> [PlaneMeans] {
    let caps = try #require(Caps("video/x-raw,format=GRAY8,width=64,height=32,framerate=25/1"))
    let frame = try Buffer(size: 64 * 32) { bytes in
      for place in bytes.indices {
        let isInside = (20..<36).contains(place % 64) && (8..<24).contains(place / 64)
        bytes[place] = isInside ? square ?? level : level
      }
    }
    return try frame.blockMeans(caps)
  }

  @Test("a black square is found and located")
  func blackSquare() throws {
    var comparison = PictureComparison()
    comparison.add(try VerifyPartsTests.means(100), try VerifyPartsTests.means(100, square: 0), frame: 3)
    let plane = comparison.planes[0]
    #expect(plane.worst.difference == 100 && plane.worst.frame == 3)
    #expect((plane.worst.x, plane.worst.y) == (24, 8))
  }

  @Test("a wrong frame does not raise its own limit")
  func usualDifference() throws {
    var comparison = PictureComparison()
    comparison.add(try VerifyPartsTests.means(100), try VerifyPartsTests.means(0), frame: 3)
    #expect(comparison.planes[0].usual(identical: 0) == 100)
    #expect(comparison.planes[0].usual(identical: 1) == 0)
    comparison.add(try VerifyPartsTests.means(100), try VerifyPartsTests.means(103), frame: 4)
    #expect(comparison.planes[0].usual(identical: 0) == 3)
    #expect(comparison.planes[0].usual(identical: 9) == 0)
    #expect(comparison.planes[0].usual(identical: 8) == 3)
  }

  @Test("brighter frames are found")
  func lighter() throws {
    var comparison = PictureComparison()
    for frame in 0..<8 {
      comparison.add(try VerifyPartsTests.means(100), try VerifyPartsTests.means(103), frame: frame)
    }
    #expect(comparison.planes[0].mean == 3)
  }

  @Test("changing one bit of any byte changes the hash of a frame")
  func hashes() {
    func hash(_ bytes: [UInt8]) -> UInt64 {
      var hash = ByteHash()
      bytes.withUnsafeBytes { hash.add($0) }
      return hash.value
    }
    let bytes = [UInt8](0..<100)
    let hashes = Set(
      bytes.indices.map { place in
        var other = bytes
        other[place] ^= 0x80
        return hash(other)
      })
    #expect(hashes.count == 100 && !hashes.contains(hash(bytes)))
  }
}
