import GStreamer

/// Plugins that most films need, loaded while the source is probed: FFmpeg with its hundred and more
/// libraries takes a third of the time until the first frame of a new process.
package enum FilmPlugins {
  /// FFmpeg last: GStreamer loads one plugin at a time, and probing needs the others first.
  private static let names = [
    "coreelements", "playback", "typefindfunctions", "isomp4", "matroska", "videoparsersbad", "audioparsers", "app",
    "audioconvert", "libav",
  ]

  /// - Parameter more: the plugins that encode the film again.
  package static func load(and more: [String] = []) { (names + more).forEach(Registry.load) }
}
