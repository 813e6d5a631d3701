import CGStreamer

extension Buffer {
  /// Whether two frames of raw video that both have `caps` show the same pixels. What pads their rows is not looked at.
  /// - Throws: ``GStreamerError``, where the memory can't be reached.
  package func hasSamePixels(as other: Buffer, _ caps: Caps) throws -> Bool {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.raw) != 0 else { throw Buffer.unmappable }
    var (a, b) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&a, &info, raw, GST_MAP_READ) != 0 else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&a) }
    guard gst_video_frame_map(&b, &info, other.raw, GST_MAP_READ) != 0 else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&b) }
    let (first, second) = (a.planes, b.planes)
    return info.planes.enumerated().allSatisfy { index, plane in
      guard let x = first[index], let y = second[index] else { return false }
      return (0..<plane.rows).allSatisfy { row in
        memcmp(x.data + row * x.stride, y.data + row * y.stride, min(plane.rowBytes, x.stride, y.stride)) == 0
      }
    }
  }
}

extension GstVideoInfo {
  /// How many rows each plane has, and how many bytes of a row are pixels; of formats whose pixels have no bytes of their
  /// own, the whole row.
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
