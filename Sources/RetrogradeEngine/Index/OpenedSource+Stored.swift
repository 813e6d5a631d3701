import GStreamer
import MediaTime

extension OpenedSource {
  /// One of the videos, of which the index is known: only the decoded part is read.
  ///
  /// - Parameters:
  ///   - number: its place among the videos that are played.
  ///   - range: the part of the source that is played, in stream time; nil for all of it.
  ///   - part: the part of that to read.
  /// - Throws: ``RetrogradeError``.
  package func video(
    _ number: Int, _ index: VideoIndex, range: TimeSpan?, part: TimeSpan, _ settings: PlaybackSettings
  ) throws -> VideoSource {
    let paths = topology.videos(settings.playback)
    guard paths.indices.contains(number) else {
      throw RetrogradeError(.damagedInput, about: name, "its video stream \(number) is no longer there")
    }
    let recipe = try DecodingRecipe(
      index, paths[number], in: topology, name: IndexingPipeline.videoName(number),
      wantsAlpha: settings.output.holdsAlpha)
    return try VideoSource(
      index, recipe, range: range, part: part, rate: FrameRateLimit(settings.playback, settings.output),
      resources: settings.resources, gauge: settings.gauge, cancellation: settings.cancellation)
  }
}
