import MediaTime

/// Video streams of a source, ready to be decoded, and the part of it that is played.
struct SourceParts {
  let range: TimeSpan?
  private(set) var video: VideoSource?
  private(set) var further: [VideoSource] = []
  private(set) var warnings: [Warning] = []

  var videos: [VideoSource] { [video].compactMap { $0 } + further }

  /// Whether all of it can be read in windows, as far as it is indexed.
  var isExact: Bool { videos.allSatisfy { $0.store == nil } && warnings.isEmpty }

  /// - Parameter video: the only one; nil where there is none.
  init(_ video: VideoSource?, _ range: TimeSpan?) {
    self.video = video
    self.range = range
  }

  /// - Parameters:
  ///   - range: the part of the source that is played; nil: all of it.
  ///   - seam: frames from there on, in stream time, are played by another source; nil: none.
  ///   - opened: a decoder of the first video stream; nil: one is opened.
  init(
    _ index: SourceIndex, _ settings: PlaybackSettings, _ range: TimeSpan?, until seam: ClockTime? = nil,
    _ opened: VideoDecoder? = nil
  ) throws {
    self.range = range
    // One budget for all that is decoded at once.
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
        warnings.append(Warning(.streamLeftOut, "left out: a further video stream (\(error.message))"))
      }
    }
  }
}
