import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

@Suite struct CaptionTests {
  /// Returns the bounding box of the pixels that `lettering` draws; nil if it draws none.
  private func drawn(
    _ lettering: Lettering, width: Int = 320, height: Int = 180, at seconds: Double = 0
  ) throws -> (x: ClosedRange<Int>, y: ClosedRange<Int>)? {
    let moment = OverlayFrame(time: .seconds(seconds), sourceTime: .zero, direction: .forward, number: 0)
    var pixels = [UInt32](repeating: 0, count: width * height)
    try pixels.withUnsafeMutableBytes { bytes in
      try DrawingContext.draw(on: bytes, width: width, height: height, hasAlpha: true) {
        try lettering.overlay?($0, moment)
      }
    }
    let places = pixels.indices.filter { pixels[$0] != 0 }
    guard let first = places.first, let last = places.last else { return nil }
    let columns = places.map { $0 % width }
    return ((columns.min() ?? 0)...(columns.max() ?? 0), first / width...last / width)
  }

  private func caption(_ text: String, _ style: String, timecode: Bool = false) throws -> Lettering {
    Lettering(caption: text, captionStyle: try CaptionStyle(parsing: style), showsTimecode: timecode)
  }

  @Test("a caption of more than 1024 bytes is refused")
  func longCaptions() throws {
    try Lettering(caption: String(repeating: "a", count: 1024)).check()
    let error = try #require(throws: RetrogradeError.self) {
      try Lettering(caption: String(repeating: "é", count: 513)).check()
    }
    #expect(error.code == .usage && error.message.contains("1024"))
  }

  @Test("a caption is drawn at the position that its style names", arguments: CaptionStyle.Place.allCases)
  func captionPlace(_ place: CaptionStyle.Place) throws {
    let found = try #require(try drawn(try caption("Hello", "place=\(place.rawValue), size=20")))
    let (x, y) = (
      Double(found.x.lowerBound + found.x.upperBound) / 2, Double(found.y.lowerBound + found.y.upperBound) / 2
    )
    let name = place.rawValue
    #expect(name.hasSuffix("left") ? x < 80 : name.hasSuffix("right") ? x > 240 : abs(x - 160) < 3)
    #expect(name.hasPrefix("top") ? y < 45 : name.hasPrefix("bottom") ? y > 135 : abs(y - 90) < 10)
    #expect(found.x.lowerBound > 0 && found.x.upperBound < 319 && found.y.lowerBound > 0 && found.y.upperBound < 179)
  }

  @Test(
    "a caption stays inside the frame and below the timecode", arguments: [(320, 180), (90, 160), (64, 400), (400, 64)])
  func captionBounds(_ width: Int, _ height: Int) throws {
    let long = Array(repeating: "It is a long caption that takes many lines", count: 4).joined(separator: ", ")
    let timecode = try #require(try drawn(Lettering(showsTimecode: true), width: width, height: height))
    #expect(timecode.x.upperBound < width - 1)
    for place in ["top-left", "top", "middle", "bottom"] {
      for size in ["", ", size=9", ", size=200"] {
        let found = try #require(
          try drawn(try caption(long, "place=\(place)\(size)", timecode: false), width: width, height: height))
        #expect(found.x.lowerBound > 0 && found.x.upperBound < width - 1 && found.y.upperBound < height - 1)
        // With a timecode, the caption starts below the timecode.
        var below = try caption(long, "place=\(place)\(size)", timecode: true)
        below.showsTimecode = false
        let alone = Caption(text: long, style: below.captionStyle, isBelowTimecode: true)
        var lowest = 0
        var pixels = [UInt32](repeating: 0, count: width * height)
        try pixels.withUnsafeMutableBytes { bytes in
          try DrawingContext.draw(on: bytes, width: width, height: height, hasAlpha: true) {
            alone.draw($0, OverlayFrame(time: .zero, sourceTime: .zero, direction: .forward, number: 0))
          }
        }
        lowest = try #require(pixels.firstIndex { $0 != 0 }) / width
        #expect(lowest > timecode.y.upperBound, "\(place)\(size) in \(width)x\(height)")
      }
    }
  }

  @Test("a caption is shown from `from` until `to`")
  func captionTime() throws {
    let caption = try caption("Now", "from=1, to=0:03.5")
    #expect(try drawn(caption, at: 0.99) == nil)
    #expect(try drawn(caption, at: 1) != nil)
    #expect(try drawn(caption, at: 3.49) != nil)
    #expect(try drawn(caption, at: 3.5) == nil)
  }

  @Test("markup in a caption is drawn as text")
  func markup() throws {
    let plain = try #require(try drawn(try caption("<b>x</b> & &amp;", "size=20")))
    let short = try #require(try drawn(try caption("x & &", "size=20")))
    #expect(plain.x.count > 2 * short.x.count)
  }

  @Test("colours and fonts of caption styles are parsed")
  func styles() throws {
    var style = try CaptionStyle(parsing: "colour=#ffcc00, box=#00000080")
    #expect(style.color == Color(red: 1, green: 0.8, blue: 0) && style.outline == nil)
    #expect(style.box.map { abs($0.alpha - 0.502) < 0.001 } ?? false)
    style = try CaptionStyle(parsing: "box=black, outline=none, font=Monospace Bold, size=12.5")
    #expect(style.box == .black && style.outline == nil && style.size == 12.5 && style.font == "Monospace Bold")
    #expect(try CaptionStyle(parsing: "box=black, outline=white").outline == .white)
    #expect(try CaptionStyle(parsing: "") == CaptionStyle())
  }

  @Test(
    "an invalid caption style is refused",
    arguments: [
      ("size=big", "not a number"), ("place=moon", "top-left"), ("blink=yes", "font=, size="),
      ("font=No Such Font", "fc-list"),
      ("font=Sans 48", "size=48"), ("color=none", "needs a colour"), ("color=#12", "#ffcc00"),
      ("from=3, to=2", "before it begins"),
      ("size=0", "1 to 2000"), ("from=end-1", "2.5"), ("top", "font=, size="), ("font=", "Serif Bold"),
    ])
  func invalidStyles(_ text: String, _ words: String) {
    let error = #expect(throws: RetrogradeError.self) { try CaptionStyle(parsing: text) }
    #expect(error?.code == .usage && error?.message.contains(words) ?? false, "\(error?.message ?? "")")
  }

  /// The caption is drawn after cropping and rotation. So it is upright, and its layout depends on
  /// the output's size, even if the source has an orientation tag.
  @Test("a caption is drawn on the cropped and rotated frame", arguments: [nil, "rotate-90"])
  func captionAfterFraming(_ orientation: String?) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    (media.width, media.height) = orientation == nil ? (320, 240) : (240, 320)
    media.times = TestMedia.regular(2, rate: 25)
    media.video = "x264enc pass=quant quantizer=0 ! h264parse"
    media.orientation = orientation
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.encoding.framing = Framing(
      crop: .area(width: 160, height: 120, at: .init(x: 100, y: 60)), rotation: .quarter)
    let (plain, lettered) = (folder.path("plain.mkv"), folder.path("lettered.mkv"))
    try await Reverser(source, options: options).reverse(to: plain)
    options.lettering = try caption("Up", "size=24, place=top-right")
    try await Reverser(source, options: options).reverse(to: lettered)
    func luma(_ path: String) throws -> [UInt8] {
      try DecodedMedia.buffers(of: "filesrc location=\(path) ! decodebin ! videoconvert ! video/x-raw,format=GRAY8")[0]
    }
    let (before, after) = (try luma(plain), try luma(lettered))
    #expect(before.count == 120 * 160)
    let changed = before.indices.filter { before[$0] != after[$0] }
    let (x, y) = (changed.map { $0 % 120 }, changed.map { $0 / 120 })
    let expected = try #require(try drawn(options.lettering, width: 120, height: 160))
    // Chroma is subsampled, so the colour reaches one pixel beyond the caption.
    #expect(abs((x.min() ?? 0) - expected.x.lowerBound) < 3 && abs((x.max() ?? 0) - expected.x.upperBound) < 3)
    #expect(abs((y.min() ?? 0) - expected.y.lowerBound) < 3 && abs((y.max() ?? 0) - expected.y.upperBound) < 3)
  }
}
