/// Motion JPEG packet: one JPEG image (ITU-T T.81), or two images, one for each field.
package enum JPEGPacket {
  /// Returns the reason why a packet cannot be reordered; nil if there is none.
  /// - Parameter height: frame height declared by the container.
  static func obstacle(in packet: UnsafeRawBufferPointer, height: Int?) -> PacketCheck.Obstacle? {
    guard packet.count >= 2, packet[0] == 0xFF, packet[1] == 0xD8 else { return .isNoFrame }
    var found: PacketCheck.Obstacle?
    forEachSegment(of: packet) { marker, body in
      if hasFields(marker, body, height) { found = .hasFields }
      return found == nil
    }
    return found
  }

  /// Calls `visit` with the marker and the body of each marker segment in the header of a packet's
  /// first image, until `visit` returns false. The body of the last segment may be truncated.
  private static func forEachSegment(
    of packet: UnsafeRawBufferPointer, _ visit: (_ marker: UInt8, _ body: UnsafeRawBufferPointer) -> Bool
  ) {
    var place = 2
    // Each marker segment of the header starts with 0xFF, a marker, and a length that counts its
    // own two bytes (T.81, B.1.1.4).
    while place + 4 <= packet.count, packet[place] == 0xFF {
      let marker = packet[place + 1]
      // Fill bytes may precede a marker.
      if marker == 0xFF {
        place += 1
        continue
      }
      let length = packet.number(at: place + 2)
      // The header ends at the start of scan, which precedes the image data.
      guard length >= 2, marker != 0xDA else { return }
      let body = packet[place + 4..<min(place + 2 + length, packet.count)]
      guard visit(marker, UnsafeRawBufferPointer(rebasing: body)) else { return }
      place += 2 + length
    }
  }

  /// Size and pixel shape of an image, which the container declares once for all packets.
  struct Form: Equatable, Sendable {
    var lines = 0
    var columns = 0
    /// Horizontal and vertical density, of which only the ratio counts (JFIF, ITU-T T.871, 10.1).
    var density = (x: 1, y: 1)

    static func == (one: Form, other: Form) -> Bool {
      one.lines == other.lines && one.columns == other.columns
        && one.density.x * other.density.y == one.density.y * other.density.x
    }
  }

  /// Form of the first image in a packet; nil if the packet has no complete frame header.
  static func form(_ packet: UnsafeRawBufferPointer) -> Form? {
    var form = Form()
    var isComplete = false
    forEachSegment(of: packet) { marker, body in
      switch marker {
      // APP0: "JFIF", a zero, version, unit, and both densities. Zeros declare nothing.
      case 0xE0 where body.count >= 12 && body.starts(with: "JFIF".utf8):
        let density = (x: body.number(at: 8), y: body.number(at: 10))
        if density.x > 0, density.y > 0 { form.density = density }
      // Frame header (T.81, B.2.2): precision, lines and columns.
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        guard body.count >= 5 else { return false }
        (form.lines, form.columns, isComplete) = (body.number(at: 1), body.number(at: 3), true)
      default: break
      }
      return !isComplete
    }
    return isComplete ? form : nil
  }

  /// Returns the comments in the header of an image.
  static func comments(_ packet: UnsafeRawBufferPointer) -> [[UInt8]] {
    var found: [[UInt8]] = []
    forEachSegment(of: packet) { marker, body in
      if marker == 0xFE { found.append(Array(body)) }
      return true
    }
    return found
  }

  /// Orientation in the EXIF metadata of an image, as in GST_TAG_IMAGE_ORIENTATION; nil if not
  /// declared.
  static func orientation(_ packet: UnsafeRawBufferPointer) -> String? {
    var found: String?
    forEachSegment(of: packet) { marker, body in
      guard marker == 0xE1, body.starts(with: EXIF.mark) else { return true }
      found = EXIF(Array(body)).orientation
      return false
    }
    return found
  }

  /// True for full-range 4:1:1, which FFmpeg decodes to a pixel format that GStreamer has no name
  /// for. In limited range, FFmpeg's encoder writes a comment, by which this function recognises
  /// the range.
  package static func isFullRange411(_ packet: UnsafeRawBufferPointer) -> Bool {
    var is411 = false
    forEachSegment(of: packet) { marker, body in
      if marker == 0xFE, body.starts(with: "CS=ITU601".utf8) {
        is411 = false
        return false
      }
      // The frame header has precision, lines, columns and number of components; then, per
      // component, an identifier, sampling factors, and a table (T.81, B.2.2).
      if 0xC0...0xC2 ~= marker, body.count >= 15, body[5] == 3 {
        is411 = [7, 10, 13].map { body[$0] } == [0x41, 0x11, 0x11]
      }
      return true
    }
    return is411
  }

  private static func hasFields(_ marker: UInt8, _ body: UnsafeRawBufferPointer, _ height: Int?) -> Bool {
    switch marker {
    // APP0 segment in AVI: "AVI1", then the field number, which is 0 for a complete frame (OpenDML
    // AVI File Format Extensions 1.02, "Motion JPEG DIB").
    case 0xE0: body.count > 4 && body.prefix(4).elementsEqual("AVI1".utf8) && body[4] != 0
    // APP1 segment in QuickTime files: four reserved bytes, "mjpg", field size, padded field size,
    // and offset of the next field, which is 0 if no field follows (QuickTime File Format,
    // "Motion-JPEG").
    case 0xE1:
      body.count >= 20 && body[4..<8].elementsEqual("mjpg".utf8) && body[16..<20].contains { $0 != 0 }
    // Frame header (T.81, B.2.2): precision and number of lines, which is 0 if a later segment
    // declares it. A field has half the lines of the frame. 0xC4, 0xC8 and 0xCC are not frame
    // headers.
    case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
      isHalf(body, of: height ?? 0)
    default: false
    }
  }
  private static func isHalf(_ frameHeader: UnsafeRawBufferPointer, of height: Int) -> Bool {
    guard frameHeader.count >= 3 else { return false }
    let lines = frameHeader.number(at: 1)
    // In a frame with an odd number of lines, one field has one line more than the other.
    return lines > 0 && 2 * lines - 1 <= height
  }
}

extension UnsafeRawBufferPointer {
  /// Big-endian number of two bytes.
  fileprivate func number(at place: Int) -> Int { Int(self[place]) << 8 | Int(self[place + 1]) }
}
