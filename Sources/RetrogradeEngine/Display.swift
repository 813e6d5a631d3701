import Glibc

/// Finds the sink for video playback in a window.
package enum Display {
  /// Returns the sink that opens a window.
  ///
  /// GStreamer tries all installed sinks. Without a display, the last sink may crash the process
  /// (`Quirk.dfbvideosinkCrash`), so this function checks for a display first.
  ///
  /// - Throws: ``RetrogradeError`` of code `missingPlugin` if there is no display.
  package static func sink() throws -> String {
    let displays = [getenv("DISPLAY"), getenv("WAYLAND_DISPLAY")].compactMap { $0 }
    guard displays.contains(where: { $0.pointee != 0 }) else {
      throw RetrogradeError(
        .missingPlugin, "no window can be opened, since there is no display: DISPLAY and WAYLAND_DISPLAY are not set")
    }
    return "autovideosink"
  }
}
