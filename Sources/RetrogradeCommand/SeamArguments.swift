import ArgumentParser
import Retrograde

/// Options of a loop's seam.
struct SeamArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "drop leaves out the last frame of all where it is the first one again: for files that players repeat, as they do "
        + "GIF, WebP and APNG by themselves.", valueName: "keep|drop"))
  var seam: Seam?

  func apply(to playback: inout PlaybackOptions) { playback.dropsSeam = seam.map { $0 == .drop } }
}

/// Treatment of the frame at the seam between the end of a file and its start, where a player repeats it.
enum Seam: String, ExpressibleByArgument, CaseIterable {
  case keep, drop
}
