import GStreamer

/// Loads the plugins that most videos need while the source is probed. Loading FFmpeg with its more
/// than a hundred libraries takes a third of the time from process start to the first frame.
package enum CodecPreload {
  /// FFmpeg last: GStreamer loads one plugin at a time, and probing needs the other plugins first.
  private static let names = [
    "coreelements", "playback", "typefindfunctions", "isomp4", "matroska", "videoparsersbad", "audioparsers", "app",
    "audioconvert", "libav",
  ]

  /// - Parameter more: further plugins, which encode the output.
  package static func load(and more: [String] = []) { (names + more).forEach(Registry.load) }
}
