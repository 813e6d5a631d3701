import CGStreamer

extension Buffer {
  /// True if two raw video frames with `caps` have the same pixels; row padding is ignored, and so
  /// are the colours of pixels that are fully transparent in both frames (in packed 8-bit formats).
  /// - Throws: ``GStreamerError`` if the memory cannot be mapped.
  package func hasSamePixels(as other: Buffer, _ caps: Caps) throws -> Bool {
    try withPlanes(caps) { own in
      try other.withPlanes(caps) { others in
        zip(own, others).allSatisfy { x, y in
          (0..<min(x.rows, y.rows)).allSatisfy { row in
            x.withRow(row) { own in
              y.withRow(row) { others in
                let count = min(own.count, others.count)
                guard count > 0, let own = own.baseAddress, let others = others.baseAddress else { return true }
                return memcmp(own, others, count) == 0 || x.showsSame(own, others, count)
              }
            }
          }
        }
      }
    }
  }

  /// Returns a hash of the pixels of a raw video frame with `caps`; padding of rows and pixels is
  /// ignored.
  /// - Throws: ``GStreamerError`` if the memory cannot be mapped.
  package func pixelHash(_ caps: Caps) throws -> UInt64 {
    try withPlanes(caps) { planes in
      var hash = ByteHash()
      for plane in planes {
        for row in 0..<plane.rows {
          plane.withRow(row) { hash.add($0) }
        }
      }
      return hash.value
    }
  }

  /// Returns a copy of a BGRA frame in which each colour is multiplied by its alpha.
  /// - Parameters:
  ///   - caps: caps of the frame.
  ///   - other: frame of this method, of the same size; partly transparent pixels first get the
  ///     alpha of its pixels, or 255 if their alpha is 128 or more. nil: alpha is kept.
  /// - Throws: ``GStreamerError`` if memory cannot be allocated or mapped.
  package func premultiplied(_ caps: Caps, roundedLike other: Buffer?) throws -> Buffer {
    let copy = try inSystemMemory(caps)
    try copy.withMutableBytes { pixels in
      if let other, other.size == pixels.count {
        try other.withBytes { others in
          for place in stride(from: 3, to: pixels.count, by: 4) where (1..<255).contains(pixels[place]) {
            pixels[place] = pixels[place] < 128 ? others[place] : 255
          }
        }
      }
      for place in stride(from: 0, to: pixels.count - 3, by: 4) where pixels[place + 3] < 255 {
        let alpha = Int(pixels[place + 3])
        for part in place..<place + 3 { pixels[part] = UInt8((Int(pixels[part]) * alpha + 127) / 255) }
      }
    }
    return copy
  }

  /// Returns the means of the 8x8 blocks in each plane of a raw video frame. Each component must
  /// have one byte.
  /// - Throws: ``GStreamerError`` if the memory cannot be mapped.
  package func blockMeans(_ caps: Caps) throws -> [PlaneMeans] {
    try withPlanes(caps) { planes in planes.map { PlaneMeans($0) } }
  }

  /// A plane of a mapped frame.
  fileprivate struct Plane {
    let data: UnsafeRawPointer
    /// Bytes from one row to the next.
    let stride: Int
    let rows: Int
    /// Number of bytes in a row, without row padding.
    let width: Int
    /// Index of the unused byte in each group of four bytes; nil if all bytes are used.
    let padding: Int?
    /// Index of the alpha byte in each group of four bytes; nil for other formats.
    let alpha: Int?

    /// True if two rows differ only in the colours of fully transparent pixels.
    func showsSame(_ row: UnsafeRawPointer, _ other: UnsafeRawPointer, _ count: Int) -> Bool {
      guard let alpha, count % 4 == 0 else { return false }
      return Swift.stride(from: 0, to: count, by: 4).allSatisfy { (place: Int) -> Bool in
        let (pixel, otherPixel) = (row + place, other + place)
        if memcmp(pixel, otherPixel, 4) == 0 { return true }
        let alphas = [pixel, otherPixel].map { $0.load(fromByteOffset: alpha, as: UInt8.self) }
        return alphas == [0, 0]
      }
    }

    func withRow<Result>(_ row: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
      let bytes = UnsafeRawBufferPointer(start: data + row * stride, count: width)
      guard let padding else { return try body(bytes) }
      var values = Array(bytes)
      for place in Swift.stride(from: padding, to: values.count, by: 4) { values[place] = 0 }
      return try values.withUnsafeBytes(body)
    }
  }

  private static let paddings = ["RGBx": 3, "BGRx": 3, "xRGB": 0, "xBGR": 0]
  private static let alphas = ["RGBA": 3, "BGRA": 3, "ARGB": 0, "ABGR": 0]

  /// - Throws: ``GStreamerError`` if the memory cannot be mapped, and errors of `body`.
  private func withPlanes<Result>(_ caps: Caps, _ body: ([Plane]) throws -> Result) throws -> Result {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.raw) != 0 else { throw Buffer.unmappable }
    var frame = GstVideoFrame()
    guard gst_video_frame_map(&frame, &info, raw, GST_MAP_READ) != 0 else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&frame) }
    let padding = caps.string("format").flatMap { Buffer.paddings[$0] }
    let alpha = caps.string("format").flatMap { Buffer.alphas[$0] }
    let planes = zip(frame.planes, info.planes).compactMap { start, shape in
      start.map {
        Plane(
          data: $0.data, stride: $0.stride, rows: shape.rows, width: min(shape.rowBytes, abs($0.stride)),
          padding: padding, alpha: alpha)
      }
    }
    return try body(planes)
  }
}

/// Mean of each 8x8 block of a plane, in sixteenths of a pixel value.
package struct PlaneMeans: Sendable {
  package static let side = 8
  package let columns: Int
  /// Mean of each block, in row order.
  package let values: [UInt16]

  /// Returns the least and greatest mean among a block and its up to eight neighbours.
  /// - Parameter place: index of the block in ``values``.
  package func levels(around place: Int) -> ClosedRange<UInt16> {
    let (row, column) = (place / columns, place % columns)
    var (least, greatest) = (values[place], values[place])
    for row in max(row - 1, 0)...min(row + 1, values.count / columns - 1) {
      for column in max(column - 1, 0)...min(column + 1, columns - 1) {
        least = min(least, values[row * columns + column])
        greatest = max(greatest, values[row * columns + column])
      }
    }
    return least...greatest
  }

  /// - Parameter plane: a plane with one byte per component.
  fileprivate init(_ plane: Buffer.Plane) {
    let side = PlaneMeans.side
    let (data, stride, width, rows) = (plane.data, plane.stride, plane.width, plane.rows)
    columns = (width + side - 1) / side
    var values: [UInt16] = []
    values.reserveCapacity(columns * ((rows + side - 1) / side))
    // Mask that selects every other byte of a word. The gaps leave 16 bits for each sum of selected
    // bytes, enough for eight rows.
    let mask: UInt64 = 0x00FF_00FF_00FF_00FF
    for top in Swift.stride(from: 0, to: rows, by: side) {
      let height = min(side, rows - top)
      for left in Swift.stride(from: 0, to: width, by: side) {
        let start = data + top * stride + left
        let count = min(side, width - left)
        var sum: UInt64 = 0
        if count == side {
          for row in 0..<height {
            let word = start.loadUnaligned(fromByteOffset: row * stride, as: UInt64.self)
            sum += (word & mask) + ((word >> 8) & mask)
          }
          sum = (sum & 0xFFFF) + ((sum >> 16) & 0xFFFF) + ((sum >> 32) & 0xFFFF) + (sum >> 48)
        } else {
          for row in 0..<height {
            for column in 0..<count { sum += UInt64(start.load(fromByteOffset: row * stride + column, as: UInt8.self)) }
          }
        }
        values.append(UInt16(sum * 16 / UInt64(height * count)))
      }
    }
    self.values = values
  }
}

/// Fast 64-bit hash; not collision-resistant against chosen input.
package struct ByteHash {
  package private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

  package init() {}

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var hash = value
    var place = 0
    while place + 8 <= bytes.count {
      hash = ByteHash.mixed(hash, bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    while place < bytes.count {
      hash = ByteHash.mixed(hash, UInt64(bytes[place]))
      place += 1
    }
    value = hash
  }

  /// Mixes a word into a hash. Multiplying by an odd factor is reversible, so different hashes stay
  /// different if the same word is mixed in.
  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let mixed = (hash ^ word) &* 0xD6E8_FEB8_6659_FD93
    return mixed ^ (mixed >> 32)
  }
}

extension GstVideoInfo {
  /// Number of rows of each plane, and number of bytes per row without row padding. In formats
  /// whose pixels share bytes, `rowBytes` includes the row padding.
  var planes: [(rows: Int, rowBytes: Int)] {
    guard let format = finfo?.pointee else { return [] }
    var planes = [(rows: Int, rowBytes: Int)](repeating: (0, 0), count: Int(format.n_planes))
    let strides = withUnsafeBytes(of: stride) { Array($0.bindMemory(to: gint.self)) }
    withUnsafeBytes(of: format) { bytes in
      func values<T>(_ field: PartialKeyPath<GstVideoFormatInfo>, as type: T.Type) -> [T] {
        let offset = MemoryLayout<GstVideoFormatInfo>.offset(of: field) ?? 0
        return (0..<4).map { bytes.load(fromByteOffset: offset + $0 * MemoryLayout<T>.stride, as: type) }
      }
      let owners = values(\.plane, as: guint.self)
      let pixelStrides = values(\.pixel_stride, as: gint.self)
      let (widths, heights) = (values(\.w_sub, as: guint.self), values(\.h_sub, as: guint.self))
      func halved(_ length: gint, _ times: guint) -> Int { (Int(length) + (1 << Int(times)) - 1) >> Int(times) }
      for component in 0..<Int(format.n_components) where Int(owners[component]) < planes.count {
        let owner = Int(owners[component])
        let width = halved(self.width, widths[component]) * Int(pixelStrides[component])
        planes[owner].rows = max(planes[owner].rows, halved(height, heights[component]))
        planes[owner].rowBytes = max(planes[owner].rowBytes, width > 0 ? width : Int(strides[owner]))
      }
    }
    return planes
  }
}

extension GstVideoFrame {
  var planes: [(data: UnsafeRawPointer, stride: Int)?] {
    let starts = withUnsafeBytes(of: data) { Array($0.bindMemory(to: gpointer?.self)) }
    let strides = withUnsafeBytes(of: info.stride) { Array($0.bindMemory(to: gint.self)) }
    return zip(starts, strides).map { start, stride in start.map { (UnsafeRawPointer($0), Int(stride)) } }
  }
}
