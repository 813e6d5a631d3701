import GStreamer
import MediaTime

extension OpenedSource {
  /// Opens a video whose index is known. Only the part to decode is read from the source.
  ///
  /// - Parameters:
  ///   - number: number of the video, counted over the videos that are played.
  ///   - range: range of the source to play, in stream time; nil for the whole source.
  ///   - part: part of `range` to read.
  /// - Throws: ``RetrogradeError``.
  package func video(
    _ number: Int, _ index: VideoIndex, range: TimeSpan?, part: TimeSpan, _ settings: PlaybackSettings
  ) throws -> VideoSource {
    let paths = topology.videos(settings.playback)
    guard paths.indices.contains(number) else {
      throw RetrogradeError(.damagedInput, about: name, "its video stream \(number) no longer exists")
    }
    let recipe = try DecodingRecipe(
      index, paths[number], in: topology, name: IndexingPipeline.videoName(number),
      wantsAlpha: settings.output.holdsAlpha)
    return try VideoSource(
      index, recipe, range: range, part: part, rate: FrameRateLimit(settings.playback, settings.output),
      resources: settings.resources, gauge: settings.gauge, cancellation: settings.cancellation)
  }
}
