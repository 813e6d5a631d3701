import MediaTime

/// Decodable video streams of a source, and the played part of the source.
struct SourceParts {
  let range: TimeSpan?
  private(set) var video: VideoSource?
  private(set) var further: [VideoSource] = []
  private(set) var warnings: [Warning] = []

  var videos: [VideoSource] { [video].compactMap { $0 } + further }

  /// True if every video stream can be opened, and can be decoded piece by piece instead of from a
  /// store of all its frames (``VideoSource/store``).
  var isExact: Bool { videos.allSatisfy { $0.store == nil } && warnings.isEmpty }

  /// - Parameter video: the only video stream; nil without video.
  init(_ video: VideoSource?, _ range: TimeSpan?) {
    self.video = video
    self.range = range
  }

  /// - Parameters:
  ///   - range: played part of the source; nil for all of it.
  ///   - seam: stream time at which this source stops, because another source plays the rest; nil
  ///     if this source plays to its end.
  ///   - opened: open decoder of the first video stream; nil to open one.
  init(
    _ index: SourceIndex, _ settings: PlaybackSettings, _ range: TimeSpan?, until seam: ClockTime? = nil,
    _ opened: VideoDecoder? = nil
  ) throws {
    self.range = range
    // All concurrent decoders share one memory budget.
    let readers = settings.playback.dissolve > .zero ? 2 : 1
    let shared = settings.resources.shared(by: readers * (1 + index.furtherVideos.count))
    let rate = settings.sourceRate
    let read = range ?? seam.map { TimeSpan(start: index.presentationStart, end: $0) }
    func source(
      _ stream: VideoIndex, _ recipe: DecodingRecipe, _ opened: VideoDecoder? = nil
    ) throws -> VideoSource {
      try VideoSource(
        stream, recipe, opened: opened, range: read, rate: rate, purpose: settings.purpose, resources: shared,
        gauge: settings.gauge, cancellation: settings.cancellation)
    }
    video = try index.video.flatMap { stream in try index.recipe.map { try source(stream, $0, opened) } }
    for (stream, recipe) in index.furtherVideos {
      do {
        further.append(try source(stream, recipe))
      } catch let error as RetrogradeError where error.code == .damagedInput {
        warnings.append(Warning(.streamLeftOut, "left out: another video stream (\(error.message))"))
      }
    }
  }
}
