import ArgumentParser
import Retrograde

/// Option for the seam, which is the cut from the last frame to the first one when a player repeats
/// the file.
struct SeamArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "drop: leave out the last frame if it equals the first, so that a repeating player does not show it twice. "
        + "(default: drop for GIF, WebP and APNG, otherwise keep)", valueName: "seam"))
  var seam: Seam?

  func apply(to playback: inout PlaybackOptions) { playback.dropsSeam = seam.map { $0 == .drop } }
}

/// Treatment of the last frame if it equals the first one. A player that loops the file would show
/// both of them, one after the other.
enum Seam: String, ExpressibleByArgument, CaseIterable {
  case keep, drop
}
