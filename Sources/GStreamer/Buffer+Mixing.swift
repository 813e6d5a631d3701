import CGStreamer

extension Buffer {
  /// Whether frames of raw video of such a form can be mixed: each value of a pixel has one byte, or two, of its own.
  package static func canMix(_ caps: Caps) -> Bool {
    var info = GstVideoInfo()
    return gst_video_info_from_caps(&info, caps.raw) != 0 && info.valueBytes != nil
  }

  /// The frame that lies between this one and `other`, which both have `caps`, in memory of its own: each value of each pixel is the
  /// mean of both, rounded to the nearest. GStreamer's own mixers (`compositor`) are pipelines with a clock: a frame would have to be
  /// waited for in each.
  ///
  /// - Parameter share: how much of `other` is in it, 0 to 1, in 256ths.
  /// - Throws: ``GStreamerError``, where the memory can't be had or reached, or frames of this form can't be mixed (``canMix(_:)``).
  package func mixed(with other: Buffer, share: Double, _ caps: Caps) throws -> Buffer {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.raw) != 0, let valueBytes = info.valueBytes else {
      throw Buffer.unmappable
    }
    let copy = try inSystemMemory(caps)
    var (a, b) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&a, &info, copy.raw, GstMapFlags(GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)) != 0
    else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&a) }
    guard gst_video_frame_map(&b, &info, other.raw, GST_MAP_READ) != 0 else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&b) }
    let weight = UInt32((min(max(share, 0), 1) * 256).rounded())
    for (plane, (first, second)) in zip(info.planes, zip(a.planes, b.planes)) {
      guard let first, let second else { throw Buffer.unmappable }
      let bytes = min(plane.rowBytes, first.stride, second.stride)
      for row in 0..<plane.rows {
        let target = UnsafeMutableRawPointer(mutating: first.data + row * first.stride)
        if valueBytes == 1 {
          Buffer.mix(target, second.data + row * second.stride, bytes, weight, UInt8.self)
        } else {
          Buffer.mix(target, second.data + row * second.stride, bytes / 2, weight, UInt16.self)
        }
      }
    }
    return copy
  }

  private static func mix<Value: FixedWidthInteger>(
    _ target: UnsafeMutableRawPointer, _ other: UnsafeRawPointer, _ count: Int, _ weight: UInt32, _: Value.Type
  ) {
    let (to, from) = (
      target.assumingMemoryBound(to: Value.self), other.assumingMemoryBound(to: Value.self)
    )
    for index in 0..<count {
      to[index] = Value(
        truncatingIfNeeded: (UInt32(to[index]) &* (256 &- weight) &+ UInt32(from[index]) &* weight &+ 128) &>> 8)
    }
  }
}

extension GstVideoInfo {
  /// How many bytes each value of a pixel has, where no two share any; nil of other formats.
  fileprivate var valueBytes: Int? {
    guard let format = finfo?.pointee else { return nil }
    let count = Int(format.n_components)
    func values(_ tuple: some Any) -> [Int] {
      withUnsafeBytes(of: tuple) { $0.bindMemory(to: guint.self).prefix(count).map { Int($0) } }
    }
    let depths = values(format.depth)
    let places = zip(values(format.plane), values(format.poffset)).map { $0 * 16 + $1 }
    let strides = values(format.pixel_stride)
    guard count > 0, Set(places).count == count, strides.allSatisfy({ $0 > 0 }),
      format.flags.rawValue & (GST_VIDEO_FORMAT_FLAG_COMPLEX.rawValue | GST_VIDEO_FORMAT_FLAG_PALETTE.rawValue) == 0
    else { return nil }
    if depths.allSatisfy({ $0 == 8 }) { return 1 }
    let isLittleEndian = format.flags.rawValue & GST_VIDEO_FORMAT_FLAG_LE.rawValue != 0
    return isLittleEndian && depths.allSatisfy { (9...16).contains($0) } && strides.allSatisfy { $0 % 2 == 0 } ? 2 : nil
  }
}
