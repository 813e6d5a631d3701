import CPango

/// Image for drawing.
public struct Image: Sendable {
  public let width: Int
  public let height: Int
  /// Blue, green, red and premultiplied alpha, 8 bits each, rows without padding.
  private let pixels: [UInt8]

  /// - Parameters:
  ///   - width: in pixels.
  ///   - height: in pixels.
  ///   - pixels: width times height times 4 bytes: blue, green, red, and straight alpha.
  /// - Throws: ``DrawingError`` if the number of bytes does not match the size.
  public init(width: Int, height: Int, pixels: [UInt8]) throws {
    guard width > 0, height > 0, pixels.count == width * height * 4 else {
      throw DrawingError(
        message: "an image of \(width)x\(height) pixels needs \(width * height * 4) bytes, not \(pixels.count)")
    }
    self.width = width
    self.height = height
    var pixels = pixels
    for place in stride(from: 0, to: pixels.count, by: 4) where pixels[place + 3] != 255 {
      let alpha = Int(pixels[place + 3])
      for part in place..<place + 3 { pixels[part] = UInt8((Int(pixels[part]) * alpha + 127) / 255) }
    }
    self.pixels = pixels
  }

  public var size: Size { Size(width: Double(width), height: Double(height)) }

  func withSurface(_ body: (OpaquePointer?) -> Void) {
    pixels.withUnsafeBufferPointer { bytes in
      // Cairo never writes to a source surface.
      let surface = cairo_image_surface_create_for_data(
        UnsafeMutablePointer(mutating: bytes.baseAddress), CAIRO_FORMAT_ARGB32, Int32(width), Int32(height),
        Int32(width * 4))
      body(surface)
      cairo_surface_destroy(surface)
    }
  }
}
