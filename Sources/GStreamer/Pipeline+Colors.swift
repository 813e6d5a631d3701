import Synchronization

extension Pipeline {
  /// Makes a stream's own colorimetry override the container's, as in FFmpeg and most players
  /// (`Quirk.h264parseContainerColors`, `Quirk.h265parseContainerColors`,
  /// `Quirk.avdecMJPEGContainerColors`).
  /// Must be called before the pipeline starts.
  package func preferColorsOfStreams() {
    for factory in ["h264parse", "h265parse"] {
      for parser in elements(ofFactory: factory) {
        ContainerColors.fillIn(from: parser.staticPad("sink"), to: parser.staticPad("src"))
      }
    }
    // JPEG defines its own colorimetry (JFIF).
    for decoder in elements(ofFactory: "avdec_mjpeg") {
      decoder.staticPad("sink")?.onCaps { caps, _ in caps.removing(["colorimetry"]) }
    }
  }
}

/// Colorimetry that the container declares. It is hidden from a parser, and restored after the
/// parser if the stream declares none.
private final class ContainerColors: Sendable {
  private let stated = Mutex<String?>(nil)

  /// Removes the colorimetry from the caps at `first`, the element's sink pad. Restores that
  /// colorimetry at `second`, the source pad, if the element sets none.
  static func fillIn(from first: Pad?, to second: Pad?) {
    let colors = ContainerColors()
    first?.onCaps { caps, _ in
      colors.stated.withLock { $0 = caps.string("colorimetry") }
      return caps.removing(["colorimetry"])
    }
    second?.onCaps { caps, _ in
      guard !caps.has("colorimetry"), let stated = colors.stated.withLock({ $0 }) else { return nil }
      return caps.setting("colorimetry", "(string)\"\(stated)\"")
    }
  }
}
