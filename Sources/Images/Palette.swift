import CImages

/// Palette of up to 256 colours for all frames of an animation (libimagequant).
///
/// All frames share one palette, so that a frame gets the same colours forwards and backwards.
package final class Palette {
  /// Red, green and blue of each colour. The value of a pixel is an index of this array.
  package let colors: [(red: UInt8, green: UInt8, blue: UInt8)]
  /// Value of a transparent pixel, which shows the previous frame.
  package let transparent: UInt8
  private let attributes: OpaquePointer
  private let result: OpaquePointer

  /// Collects colours frame by frame.
  package final class Builder {
    fileprivate let attributes: OpaquePointer
    fileprivate let histogram: OpaquePointer

    /// - Parameter colors: maximum number of colours, 3 to 256, including the transparent one.
    ///   Values outside this range are clamped.
    package init(colors: Int = 256) throws {
      guard let attributes = liq_attr_create() else { throw ImageError(message: "no memory for a palette") }
      // Speeds are 1 (slowest, best quality) to 10. From 8 on, libimagequant skips edge detection,
      // which takes half of the time (docs/benchmarks.md).
      liq_set_speed(attributes, 8)
      // Use at least three: with two, only one colour would be left besides the transparent colour.
      liq_set_max_colors(attributes, Int32(min(max(colors, 3), 256)))
      guard let histogram = liq_histogram_create(attributes) else {
        liq_attr_destroy(attributes)
        throw ImageError(message: "no memory for a palette")
      }
      self.attributes = attributes
      self.histogram = histogram
      try check(liq_histogram_add_fixed_color(histogram, liq_color(r: 0, g: 0, b: 0, a: 0), 0))
    }

    deinit {
      liq_histogram_destroy(histogram)
      liq_attr_destroy(attributes)
    }

    /// Counts the colours of a frame.
    /// - Parameter pixels: RGBA, 8 bits each, rows without padding.
    package func add(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int) throws {
      let image = try makeImage(attributes, pixels, width, height)
      defer { liq_image_destroy(image) }
      try check(liq_histogram_add_image(histogram, attributes, image))
    }
  }

  /// Chooses the colours that fit all counted colours best.
  package init(_ builder: Builder) throws {
    var result: OpaquePointer?
    try check(liq_histogram_quantize(builder.histogram, builder.attributes, &result))
    guard let result, let attributes = liq_attr_copy(builder.attributes), let palette = liq_get_palette(result) else {
      throw ImageError(message: "no memory for a palette")
    }
    self.result = result
    self.attributes = attributes
    let count = Int(palette.pointee.count)
    let entries = withUnsafeBytes(of: palette.pointee.entries) {
      Array($0.bindMemory(to: liq_color.self).prefix(count))
    }
    colors = entries.map { ($0.r, $0.g, $0.b) }
    transparent = UInt8(clamping: entries.firstIndex { $0.a == 0 } ?? 0)
  }

  deinit {
    liq_result_destroy(result)
    liq_attr_destroy(attributes)
  }

  /// Maps pixels to palette values, with dithering. A pixel becomes ``transparent`` if the pixel of
  /// `shown` at the same position matches at least as well as the best colour of the palette.
  ///
  /// - Parameters:
  ///   - pixels: RGBA, 8 bits each, rows without padding.
  ///   - shown: previous frame as it is displayed, in the same format; nil before the first frame.
  ///   - dither: strength of the dithering, 0 to 1. A high value adds noise, which costs bytes and
  ///     fidelity; a low value leaves bands of colour.
  package func map(
    _ pixels: UnsafeRawBufferPointer, over shown: UnsafeRawBufferPointer?, width: Int, height: Int,
    dither: Double = 0.35
  ) throws -> [UInt8] {
    let image = try makeImage(attributes, pixels, width, height)
    defer { liq_image_destroy(image) }
    if let shown {
      let background = try makeImage(attributes, shown, width, height)
      // On success, the image takes ownership of the background.
      try check(liq_image_set_background(image, background))
    }
    try check(liq_set_dithering_level(result, Float(dither)))
    return try [UInt8](unsafeUninitializedCapacity: width * height) { bytes, count in
      guard let base = bytes.baseAddress else { return }
      try check(liq_write_remapped_image(result, image, base, width * height))
      count = width * height
    }
  }
}

private func makeImage(
  _ attributes: OpaquePointer, _ pixels: UnsafeRawBufferPointer, _ width: Int, _ height: Int
) throws -> OpaquePointer {
  guard let base = pixels.baseAddress, pixels.count >= width * height * 4,
    let image = liq_image_create_rgba(attributes, base, Int32(width), Int32(height), 0)
  else { throw ImageError(message: "no palette can be made for a frame of \(width)x\(height)") }
  return image
}

private func check(_ status: liq_error) throws {
  guard status == LIQ_OK else { throw ImageError(message: "libimagequant failed with \(status.rawValue)") }
}
