import GStreamer

/// The plugins that most films need, loaded while it is being found out what is in one: of the time until the first frame of a new
/// process, FFmpeg with its hundred and more libraries takes a third.
package enum FilmPlugins {
  /// FFmpeg last: GStreamer loads one plugin at a time, and whoever looks into the film needs the others first.
  private static let names = [
    "coreelements", "playback", "typefindfunctions", "isomp4", "matroska", "videoparsersbad", "audioparsers", "app",
    "audioconvert", "libav",
  ]

  /// - Parameter more: what encodes it again.
  package static func load(and more: [String] = []) { (names + more).forEach(Registry.load) }
}
