import CImages

/// Palette of up to 256 colours for all frames of an animation (libimagequant).
///
/// All frames share it, so that a frame gets the same colours each time it is shown, forwards and
/// backwards.
package final class Palette {
  /// Colours: red, green and blue, 0 to 255 each; the index is a pixel's value.
  package let colors: [(red: UInt8, green: UInt8, blue: UInt8)]
  /// Value of a transparent pixel, which shows the previous frame.
  package let transparent: UInt8
  private let attributes: OpaquePointer
  private let result: OpaquePointer

  /// Collects colours frame by frame.
  package final class Builder {
    fileprivate let attributes: OpaquePointer
    fileprivate let histogram: OpaquePointer

    /// - Parameter colors: maximum number of colours, 2 to 256, including the transparent one.
    package init(colors: Int = 256) throws {
      guard let attributes = liq_attr_create() else { throw ImageError(message: "no memory for a palette") }
      // 1 is the slowest and best of 1 to 10. From 8 on it does not detect edges, which took half
      // of the time (docs/benchmarks.md).
      liq_set_speed(attributes, 8)
      // A maximum of two would leave one colour.
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

  /// Chooses the colours closest to all counted ones.
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

  /// Maps pixels to palette values, dithered. A pixel that `shown`, the frame on screen, matches as
  /// well as any colour becomes ``transparent``.
  ///
  /// - Parameters:
  ///   - pixels: RGBA, 8 bits each, rows without padding.
  ///   - shown: in the same format; nil before the first frame.
  ///   - dither: strength, 0 to 1. More adds noise, which costs bytes and fidelity; less leaves
  ///     bands.
  package func map(
    _ pixels: UnsafeRawBufferPointer, over shown: UnsafeRawBufferPointer?, width: Int, height: Int,
    dither: Double = 0.35
  ) throws -> [UInt8] {
    let image = try makeImage(attributes, pixels, width, height)
    defer { liq_image_destroy(image) }
    if let shown {
      let background = try makeImage(attributes, shown, width, height)
      // From here on the image owns it.
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
