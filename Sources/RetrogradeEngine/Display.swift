import Glibc

/// Where windows are opened.
package enum Display {
  /// The sink that opens a window. GStreamer tries all that are installed, and where there is no display, DirectFB's
  /// (`dfbvideosink` of 1.22) takes the process down: so that is found out here.
  ///
  /// - Throws: ``RetrogradeError`` of code `missingPlugin`, where there is no display.
  package static func sink() throws -> String {
    let displays = [getenv("DISPLAY"), getenv("WAYLAND_DISPLAY")].compactMap { $0 }
    guard displays.contains(where: { $0.pointee != 0 }) else {
      throw RetrogradeError(
        .missingPlugin, "there is no display to open a window on: DISPLAY and WAYLAND_DISPLAY are not set")
    }
    return "autovideosink"
  }
}
