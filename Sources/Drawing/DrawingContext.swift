import CPango

/// Draws directly into the memory of a frame (with Cairo, and Pango for text). A context is valid
/// only inside the closure that receives the context.
///
/// Each frame gets a new context, without the drawings and the state of the previous frame. The
/// unit is the pixel, x points right, y points down, and the image is upright.
public final class DrawingContext {
  /// Size of the frame, in pixels.
  public let size: Size
  private let context: OpaquePointer

  private init(_ context: OpaquePointer, _ size: Size) {
    self.context = context
    self.size = size
  }

  /// The whole frame.
  public var bounds: Rectangle { Rectangle(origin: Point(x: 0, y: 0), size: size) }

  /// Calls `body` with a context that draws on `pixels`.
  ///
  /// - Parameters:
  ///   - pixels: 32 bits a pixel: blue, green, red, and premultiplied alpha or padding.
  ///   - transform: matrix that maps drawing coordinates to pixels, and size of the drawing; nil if
  ///     drawing coordinates are pixels.
  /// - Throws: ``DrawingError`` if there are too few pixels for the size, or drawing fails.
  package static func draw(
    on pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int, hasAlpha: Bool,
    transform: (matrix: Transform, size: Size)? = nil, _ body: (DrawingContext) throws -> Void
  ) throws {
    guard let base = pixels.baseAddress, width > 0, height > 0, pixels.count >= width * height * 4
    else { throw DrawingError(message: "there are too few pixels to draw an image of \(width)x\(height)") }
    let format = hasAlpha ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24
    let surface = cairo_image_surface_create_for_data(
      base.assumingMemoryBound(to: UInt8.self), format, Int32(width), Int32(height), Int32(width * 4))
    defer { cairo_surface_destroy(surface) }
    try check(cairo_surface_status(surface))
    guard let context = cairo_create(surface) else { throw DrawingError(message: "there is not enough memory to draw") }
    defer { cairo_destroy(context) }
    if var matrix = transform?.matrix.cairo { cairo_set_matrix(context, &matrix) }
    try body(
      DrawingContext(context, transform?.size ?? Size(width: Double(width), height: Double(height))))
    try check(cairo_status(context))
    cairo_surface_flush(surface)
  }

  private static func check(_ status: cairo_status_t) throws {
    guard status == CAIRO_STATUS_SUCCESS else {
      throw DrawingError(message: cairo_status_to_string(status).map { String(cString: $0) } ?? "Cairo failed")
    }
  }

  /// Fills the whole frame.
  public func fill(_ color: Color) { fill(Path(bounds), with: .color(color)) }

  /// Fills the inside of `path`.
  public func fill(_ path: Path, with paint: Paint) {
    trace(path)
    use(paint) { cairo_fill(context) }
  }

  /// Strokes `path`.
  public func stroke(_ path: Path, with paint: Paint, _ stroke: Stroke) {
    trace(path)
    cairo_set_line_width(context, stroke.width)
    cairo_set_line_cap(context, stroke.isRound ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT)
    cairo_set_line_join(context, stroke.isRound ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER)
    cairo_set_dash(context, stroke.dashes, Int32(stroke.dashes.count), 0)
    use(paint) { cairo_stroke(context) }
  }

  /// Runs `body`, and clips its drawing to the inside of `path`.
  public func clipped(to path: Path, _ body: () throws -> Void) rethrows {
    try saved {
      trace(path)
      cairo_clip(context)
      try body()
    }
  }

  /// Saves the transform and the clip, runs `body`, and restores the transform and the clip.
  public func saved(_ body: () throws -> Void) rethrows {
    cairo_save(context)
    defer { cairo_restore(context) }
    try body()
  }

  /// Moves the origin.
  public func translate(x: Double, y: Double) { cairo_translate(context, x, y) }
  /// Scales the unit of length.
  public func scale(x: Double, y: Double) { cairo_scale(context, x, y) }
  /// Rotates the axes clockwise.
  public func rotate(radians: Double) { cairo_rotate(context, radians) }

  /// Draws `image`, scaled to `rectangle`.
  public func draw(_ image: Image, in rectangle: Rectangle, opacity: Double = 1) {
    saved {
      translate(x: rectangle.origin.x, y: rectangle.origin.y)
      scale(x: rectangle.size.width / image.size.width, y: rectangle.size.height / image.size.height)
      image.withSurface { surface in
        cairo_set_source_surface(context, surface, 0, 0)
        cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_GOOD)
        cairo_paint_with_alpha(context, opacity)
        // The image's memory is valid only inside this closure. Set another source, so that Cairo
        // drops its reference to that memory.
        cairo_set_source_rgb(context, 0, 0, 0)
      }
    }
  }

  /// Draws `text` from the top of `rectangle`, and wraps lines to the width of `rectangle`.
  /// - Returns: the size of the text.
  @discardableResult
  public func draw(_ text: Text, in rectangle: Rectangle) -> Size {
    guard let layout = layout(text, width: rectangle.size.width) else { return Size(width: 0, height: 0) }
    defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
    saved {
      translate(x: rectangle.origin.x, y: rectangle.origin.y)
      if let (color, width) = text.outline {
        cairo_move_to(context, 0, 0)
        pango_cairo_layout_path(context, layout)
        cairo_set_line_width(context, width * 2)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        use(.color(color)) { cairo_stroke(context) }
      }
      cairo_move_to(context, 0, 0)
      use(.color(text.color)) { pango_cairo_show_layout(context, layout) }
    }
    return size(of: layout)
  }

  /// Returns the size of `text` with lines wrapped to `width`. With a width of `.infinity`, a new
  /// line starts only at a line break in the text.
  public func size(of text: Text, width: Double) -> Size {
    guard let layout = layout(text, width: width) else { return Size(width: 0, height: 0) }
    defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
    return size(of: layout)
  }

  private func layout(_ text: Text, width: Double) -> OpaquePointer? {
    guard let layout = pango_cairo_create_layout(context) else { return nil }
    let font = pango_font_description_from_string(text.font)
    defer { pango_font_description_free(font) }
    if pango_font_description_get_size_is_absolute(font) == 0 {
      pango_font_description_set_absolute_size(font, Double(pango_font_description_get_size(font)))
    }
    pango_layout_set_font_description(layout, font)
    pango_layout_set_text(layout, text.string, -1)
    let units = width * Double(PANGO_SCALE)
    // -1 means no limit in Pango.
    pango_layout_set_width(layout, units < Double(Int32.max) ? Int32(max(units, Double(PANGO_SCALE))) : -1)
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
    let alignments: [Text.Alignment: PangoAlignment] = [
      .left: PANGO_ALIGN_LEFT, .center: PANGO_ALIGN_CENTER, .right: PANGO_ALIGN_RIGHT,
    ]
    pango_layout_set_alignment(layout, alignments[text.alignment] ?? PANGO_ALIGN_LEFT)
    return layout
  }

  private func size(of layout: OpaquePointer) -> Size {
    var width: Int32 = 0
    var height: Int32 = 0
    pango_layout_get_pixel_size(layout, &width, &height)
    return Size(width: Double(width), height: Double(height))
  }

  private func trace(_ path: Path) {
    cairo_new_path(context)
    for element in path.elements {
      switch element {
      case .move(let point): cairo_move_to(context, point.x, point.y)
      case .line(let point): cairo_line_to(context, point.x, point.y)
      case .curve(let first, let second, let end):
        cairo_curve_to(context, first.x, first.y, second.x, second.y, end.x, end.y)
      case .arc(let center, let radius, let start, let end):
        cairo_arc(context, center.x, center.y, max(radius, 0), start, end)
      case .close: cairo_close_path(context)
      }
    }
  }

  private func use(_ paint: Paint, _ body: () -> Void) {
    switch paint {
    case .color(let color):
      cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
    case .linear(let start, let end, let stops):
      use(cairo_pattern_create_linear(start.x, start.y, end.x, end.y), stops)
    case .radial(let center, let radius, let stops):
      use(cairo_pattern_create_radial(center.x, center.y, 0, center.x, center.y, radius), stops)
    }
    body()
  }

  private func use(_ gradient: OpaquePointer?, _ stops: [Paint.Stop]) {
    for stop in stops {
      let color = stop.color
      cairo_pattern_add_color_stop_rgba(gradient, stop.place, color.red, color.green, color.blue, color.alpha)
    }
    cairo_set_source(context, gradient)
    cairo_pattern_destroy(gradient)
  }
}

/// Affine transform: x becomes `xx` * x + `xy` * y + `x0`, y becomes `yx` * x + `yy` * y + `y0`.
package struct Transform: Hashable, Sendable {
  package var (xx, xy, x0, yx, yy, y0): (Double, Double, Double, Double, Double, Double)

  package init(xx: Double, xy: Double, x0: Double, yx: Double, yy: Double, y0: Double) {
    (self.xx, self.xy, self.x0, self.yx, self.yy, self.y0) = (xx, xy, x0, yx, yy, y0)
  }

  package static let identity = Transform(xx: 1, xy: 0, x0: 0, yx: 0, yy: 1, y0: 0)

  package static func scale(x: Double, y: Double) -> Transform {
    Transform(xx: x, xy: 0, x0: 0, yx: 0, yy: y, y0: 0)
  }

  package static func move(x: Double, y: Double) -> Transform {
    Transform(xx: 1, xy: 0, x0: x, yx: 0, yy: 1, y0: y)
  }

  /// Returns the transformed point.
  package func callAsFunction(_ place: Point) -> Point {
    Point(x: xx * place.x + xy * place.y + x0, y: yx * place.x + yy * place.y + y0)
  }

  /// Returns the concatenation: this transform, then `next`.
  package func then(_ next: Transform) -> Transform {
    Transform(
      xx: next.xx * xx + next.xy * yx, xy: next.xx * xy + next.xy * yy, x0: next.xx * x0 + next.xy * y0 + next.x0,
      yx: next.yx * xx + next.yy * yx, yy: next.yx * xy + next.yy * yy, y0: next.yx * x0 + next.yy * y0 + next.y0)
  }

  fileprivate var cairo: cairo_matrix_t { cairo_matrix_t(xx: xx, yx: yx, xy: xy, yy: yy, x0: x0, y0: y0) }
}

/// Drawing error.
public struct DrawingError: Error, Sendable, CustomStringConvertible {
  public let message: String
  public var description: String { message }

  public init(message: String) { self.message = message }
}
