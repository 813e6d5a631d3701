import Quirks
import Testing

@Suite("Quirks of dfbvideosink") struct DFBVideoSinkTests {
  @Test("dfbvideosink crashes without a display")
  func crash() throws {
    try expect(.dfbvideosinkCrash) {
      try launch(
        ["-f", "videotestsrc", "num-buffers=1", "!", "dfbvideosink"],
        environment: ["DISPLAY": "", "WAYLAND_DISPLAY": ""]
      ).isCrash
    }
  }
}
