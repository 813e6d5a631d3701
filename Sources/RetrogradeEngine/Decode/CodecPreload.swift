import GStreamer

/// Plugins that most videos need, loaded while the source is probed. FFmpeg with its hundred and
/// more libraries takes a third of a new process's time to the first frame.
package enum CodecPreload {
  /// FFmpeg last: GStreamer loads one plugin at a time, and probing needs the others first.
  private static let names = [
    "coreelements", "playback", "typefindfunctions", "isomp4", "matroska", "videoparsersbad", "audioparsers", "app",
    "audioconvert", "libav",
  ]

  /// - Parameter more: plugins for encoding the output.
  package static func load(and more: [String] = []) { (names + more).forEach(Registry.load) }
}
