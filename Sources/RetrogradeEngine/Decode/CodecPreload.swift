import GStreamer

/// Loads the plugins that most videos need, while another thread opens the source. Loading FFmpeg
/// with its more than a hundred libraries takes a third of the time from process start to the first
/// frame.
package enum CodecPreload {
  /// FFmpeg's plugin is last, because GStreamer loads one plugin at a time, and opening the source
  /// needs the other plugins first.
  private static let names = [
    "coreelements", "playback", "typefindfunctions", "isomp4", "matroska", "videoparsersbad", "audioparsers", "app",
    "audioconvert", "libav",
  ]

  /// Loads the plugins one after the other.
  /// - Parameter more: further plugins, which encode the output.
  package static func load(and more: [String] = []) { (names + more).forEach(Registry.load) }
}
