import CImages
import Foundation
import GStreamer
import MediaTime

/// An animation, decoded with the library of its format.
package struct DecodedAnimation {
  /// The number painted in each frame, in display order.
  package var numbers: [Int] = []
  /// Duration of each frame, in milliseconds.
  package var delays: [Int] = []
  /// Loop count; 0 means endless; nil if the file declares none.
  package var loops: Int?
  package var width = 0
  package var height = 0
  /// The pixels of the first frame, RGBA.
  package var first: [UInt8] = []
  /// The pixels of the last frame, RGBA.
  package var last: [UInt8] = []

  package init(_ path: String) throws {
    switch path.split(separator: ".").last {
    case "gif": try readGIF(path)
    case "webp": try readWebP(path)
    default: try readAPNG(path)
    }
  }

  private mutating func add(_ pixels: [UInt8]) {
    if first.isEmpty { first = pixels }
    last = pixels
    numbers.append(
      TestMedia.number(width: width, height: height) { x, y in pixels[(y * width + x) * 4 + 1] })
  }

  private mutating func readGIF(_ path: String) throws {
    guard let file = DGifOpenFileName(path, nil) else { throw Failure() }
    defer { DGifCloseFile(file, nil) }
    guard DGifSlurp(file) == GIF_OK else { throw Failure() }
    (width, height) = (Int(file.pointee.SWidth), Int(file.pointee.SHeight))
    var shown = [UInt8](repeating: 0, count: width * height * 4)
    for index in 0..<Int(file.pointee.ImageCount) {
      let image = file.pointee.SavedImages[index]
      var control = GraphicsControlBlock()
      DGifSavedExtensionToGCB(file, Int32(index), &control)
      for block in 0..<Int(image.ExtensionBlockCount) {
        let part = image.ExtensionBlocks[block]
        if part.Function == CONTINUE_EXT_FUNC_CODE, part.ByteCount == 3, part.Bytes[0] == 1 {
          loops = Int(part.Bytes[1]) | Int(part.Bytes[2]) << 8
        }
      }
      let area = image.ImageDesc
      let map = area.ColorMap ?? file.pointee.SColorMap
      for y in 0..<Int(area.Height) {
        for x in 0..<Int(area.Width) {
          let value = Int(image.RasterBits[y * Int(area.Width) + x])
          if value == Int(control.TransparentColor) { continue }
          guard let color = map?.pointee.Colors[value] else { throw Failure() }
          let place = ((Int(area.Top) + y) * width + Int(area.Left) + x) * 4
          (shown[place], shown[place + 1], shown[place + 2], shown[place + 3]) = (
            color.Red, color.Green, color.Blue, 255
          )
        }
      }
      delays.append(Int(control.DelayTime) * 10)
      add(shown)
      if control.DisposalMode == DISPOSE_BACKGROUND { shown = [UInt8](repeating: 0, count: shown.count) }
    }
  }

  private mutating func readWebP(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    try bytes.withUnsafeBufferPointer { buffer in
      var data = WebPData(bytes: buffer.baseAddress, size: buffer.count)
      guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw Failure() }
      defer { WebPAnimDecoderDelete(decoder) }
      var info = WebPAnimInfo()
      WebPAnimDecoderGetInfo(decoder, &info)
      (width, height, loops) = (Int(info.canvas_width), Int(info.canvas_height), Int(info.loop_count))
      var before: Int32 = 0
      while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
        var pixels: UnsafeMutablePointer<UInt8>?
        var end: Int32 = 0
        guard WebPAnimDecoderGetNext(decoder, &pixels, &end) != 0, let pixels else { throw Failure() }
        delays.append(Int(end - before))
        before = end
        add(Array(UnsafeBufferPointer(start: pixels, count: width * height * 4)))
      }
    }
  }

  /// Wraps each frame as a PNG file, which GStreamer decodes.
  private mutating func readAPNG(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    var place = 8
    var header: [UInt8] = []
    var frames: [[UInt8]] = []
    var declared = 0
    var sequence = 0
    while place + 12 <= bytes.count {
      let length = number(place)
      let body = place + 8
      let named = Array(bytes[place + 4..<body + length])
      guard crc32(0, named, uInt(named.count)) == UInt(number(body + length)) else { throw Failure() }
      switch String(decoding: named.prefix(4), as: UTF8.self) {
      case "IHDR":
        header = Array(bytes[place..<body + length + 4])
        (width, height) = (number(body), number(body + 4))
      case "acTL": (declared, loops) = (number(body), number(body + 4))
      case "fcTL":
        guard number(body) == sequence else { throw Failure() }
        sequence += 1
        delays.append((number(body + 20) >> 16) * 1000 / (number(body + 20) & 0xFFFF))
        frames.append([])
      case "IDAT": frames[frames.count - 1] += bytes[place..<body + length + 4]
      case "fdAT":
        guard number(body) == sequence else { throw Failure() }
        sequence += 1
        let data = Array("IDAT".utf8) + bytes[body + 4..<body + length]
        func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
        frames[frames.count - 1] +=
          word(UInt32(length - 4)) + data + word(UInt32(crc32(0, data, uInt(data.count))))
      default: break
      }
      place = body + length + 4
    }
    guard declared == frames.count else { throw Failure() }
    let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]
    for frame in frames {
      let pipeline = try Pipeline(
        "appsrc name=in ! pngdec ! videoconvert ! video/x-raw,format=RGBA ! appsink name=out sync=false")
      defer { pipeline.set(.null) }
      let png = Array(bytes.prefix(8)) + header + frame + end
      pipeline.set(.playing)
      let source = try pipeline.appSource("in")
      _ = source.push(try Buffer(size: png.count) { $0.copyBytes(from: png) })
      source.endOfStream()
      guard let sample = try pipeline.appSink("out").pull(timeout: ClockTime(seconds: 20)) else { throw Failure() }
      add(try sample.buffer.withBytes { Array($0) })
    }
  }

  struct Failure: Error {}
}
