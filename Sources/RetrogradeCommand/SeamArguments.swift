import ArgumentParser
import Retrograde

/// Options for the seam of a loop.
struct SeamArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "drop: leave out the last frame if it equals the first, so that a repeating player does not show it twice. "
        + "(default: drop for GIF, WebP and APNG, otherwise keep)", valueName: "seam"))
  var seam: Seam?

  func apply(to playback: inout PlaybackOptions) { playback.dropsSeam = seam.map { $0 == .drop } }
}

/// Treatment of the frame that is shown twice at the seam when a player loops the file.
enum Seam: String, ExpressibleByArgument, CaseIterable {
  case keep, drop
}
