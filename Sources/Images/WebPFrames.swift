import CImages

/// Frames of an animated WebP: their positions in the file, durations and contents (RFC 9649, 2.7).
package struct WebPFrames {
  package struct Frame {
    /// Duration of the frame.
    package var milliseconds: Int
    /// Position of the frame's RIFF chunk in the file, in bytes.
    package var offset: Int
  }

  /// Reason why later frames cannot be read.
  package enum Damage: Equatable {
    /// The file ends within a frame, or before its declared end.
    case cut
    /// Invalid data at this offset. At least `missing` frames are lost: one at the offset, and one
    /// for each later frame header. Frames after the invalid data cannot be shown, because each is
    /// drawn over the frame before it.
    case broken(offset: Int, missing: Int)
  }

  package let width: Int
  package let height: Int
  /// Complete frames, up to any damage.
  package private(set) var frames: [Frame] = []
  package private(set) var damage: Damage?
  /// Number of plays; 0 loops forever.
  package private(set) var plays = 0
  /// Byte offset of another RIFF file that is appended to this one; nil if none is appended.
  package let next: Int?
  /// Bytes of the file, up to the end of the last complete frame.
  private let whole: [UInt8]

  /// True if a file with these first bytes is an animated WebP: RIFF, WEBP, VP8X, and the animation
  /// flag.
  package static func isAnimated(_ start: [UInt8]) -> Bool {
    start.count > 21 && start.prefix(4).elementsEqual("RIFF".utf8) && start[8..<16].elementsEqual("WEBPVP8X".utf8)
      && start[20] & 2 != 0
  }

  /// Reads the size of the canvas from the first bytes of a file; nil if the file is not an
  /// animated WebP.
  package static func canvas(_ start: [UInt8]) -> (width: Int, height: Int)? {
    guard isAnimated(start), start.count >= 30 else { return nil }
    return (number(start, 24, 3) + 1, number(start, 27, 3) + 1)
  }

  private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
    bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Locates the frames without decoding them.
  /// - Returns: nil if `bytes` are not an animated WebP.
  package init?(_ bytes: [UInt8]) {
    guard let canvas = WebPFrames.canvas(bytes) else { return nil }
    (width, height) = canvas
    let promised = 8 + WebPFrames.number(bytes, 4, 4)
    next = bytes[min(promised, bytes.count)...].starts(with: "RIFF".utf8) ? promised : nil
    var (place, end) = (12, min(promised, bytes.count))
    while place + 8 <= end, damage == nil {
      let size = WebPFrames.number(bytes, place + 4, 4)
      let type = bytes[place..<place + 4]
      let next = place + 8 + size + size % 2
      if !type.allSatisfy({ (0x20...0x7E).contains($0) }) {
        damage = WebPFrames.broken(bytes, at: place)
      } else if next > end {
        damage = bytes.count < promised ? .cut : WebPFrames.broken(bytes, at: place)
      } else if type.elementsEqual("ANIM".utf8), size >= 6 {
        plays = WebPFrames.number(bytes, place + 12, 2)
      } else if type.elementsEqual("ANMF".utf8) {
        if size >= 24, WebPFrames.holdsImage(bytes, place + 8..<place + 8 + size, canvas) {
          frames.append(Frame(milliseconds: WebPFrames.number(bytes, place + 20, 3), offset: place))
        } else {
          damage = WebPFrames.broken(bytes, at: place)
        }
      }
      if damage == nil { place = next }
    }
    if damage == nil, bytes.count < promised { damage = .cut }
    end = min(place, end)
    let length = UInt32(clamping: end - 8)
    whole = Array(bytes[..<4]) + withUnsafeBytes(of: length.littleEndian, Array.init) + bytes[8..<end]
  }

  private static func broken(_ bytes: [UInt8], at place: Int) -> Damage {
    let name = Array("ANMF".utf8)
    let further = bytes.indices.dropFirst(place + 1).dropLast(3).count { bytes[$0..<$0 + 4].elementsEqual(name) }
    return .broken(offset: place, missing: 1 + further)
  }

  /// True if a frame's RIFF chunk contains an image of the declared size that fits within the
  /// canvas. libwebp refuses the whole file if this is false for any frame.
  private static func holdsImage(_ bytes: [UInt8], _ chunk: Range<Int>, _ canvas: (width: Int, height: Int)) -> Bool {
    let start = chunk.lowerBound
    let (x, y) = (number(bytes, start, 3) * 2, number(bytes, start + 3, 3) * 2)
    let (width, height) = (number(bytes, start + 6, 3) + 1, number(bytes, start + 9, 3) + 1)
    guard x + width <= canvas.width, y + height <= canvas.height else { return false }
    var features = WebPBitstreamFeatures()
    let status = bytes[chunk.dropFirst(16)].withUnsafeBufferPointer {
      WebPGetFeatures($0.baseAddress, $0.count, &features)
    }
    return status == VP8_STATUS_OK && Int(features.width) == width && Int(features.height) == height
  }

  /// Calls `body` with each frame as displayed (RGBA, rows without padding) and the frame's number.
  /// Decodes with libwebp's WebPAnimDecoder.
  /// - Returns: number of decoded frames; less than the count of ``frames`` if a frame cannot be
  ///   decoded.
  package func read(_ body: (_ pixels: UnsafeRawBufferPointer, _ number: Int) throws -> Void) throws -> Int {
    guard !frames.isEmpty else { return 0 }
    return try whole.withUnsafeBufferPointer { buffer in
      var data = WebPData(bytes: buffer.baseAddress, size: buffer.count)
      guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw ImageError(message: "too damaged to read") }
      defer { WebPAnimDecoderDelete(decoder) }
      for number in frames.indices {
        var pixels: UnsafeMutablePointer<UInt8>?
        var end: Int32 = 0
        guard WebPAnimDecoderGetNext(decoder, &pixels, &end) != 0, let pixels else { return number }
        try body(UnsafeRawBufferPointer(start: pixels, count: width * height * 4), number)
      }
      return frames.count
    }
  }
}
