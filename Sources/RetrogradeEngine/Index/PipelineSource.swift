package import Containers
package import GStreamer

/// File that a user's pipeline reads, with the facts that its container states about the streams.
package struct PipelineSource: Sendable {
  private let opened: OpenedSource
  private let settings: PlaybackSettings
  private let path: String

  /// The source file and its facts.
  package var stored: Source { opened.stored }

  /// - Returns: nil if `path` is not a regular file, or if only the user's pipeline can read the
  ///   file.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`, or `CancellationError`.
  package init?(_ path: String, _ settings: PlaybackSettings) throws {
    guard Source.isReopenable(path) else { return nil }
    do {
      opened = try OpenedSource(path, settings)
    } catch let error as RetrogradeError where error.code != .inputOutput {
      Log.index.info("\(path): only the pipeline knows how to read it: \(error.message)")
      return nil
    }
    self.path = path
    self.settings = settings
  }

  /// Applies workarounds for this file and GStreamer release to the pipeline. Call this before the
  /// pipeline starts.
  package func prepare(_ pipeline: Pipeline) { opened.topology.prepare(pipeline) }

  /// True for GIF: frames get the packets' timestamps, because the decoder may output wrong ones
  /// (`Quirk.avdecGIFTimestamps`).
  package var isTimedByPackets: Bool { opened.topology.isGIF }

  /// Returns the stream of the file that arrives at `sink`; nil if unknown.
  /// - Parameter sink: appsink of a running pipeline.
  package func stream(of kind: StreamKind, before sink: Element) -> StreamPath? {
    let origins = sink.origins
    guard let reader = origins.last?.element, reader.string("location") == path else { return nil }
    let streams = opened.topology.streams.filter { $0.kind == kind }
    guard streams.count > 1 else { return streams.first }
    return streams.first { $0.originates(from: origins.map { ($0.element.factoryName ?? "", $0.pad.name) }) }
  }

  /// Adds tags and chapters of the file to an index of the pipeline's streams.
  package func describe(_ index: inout SourceIndex) {
    index.tags = opened.topology.fileTags.merging(index.tags)
    index.chapters = settings.playback.wantsChapters ? opened.topology.chapters(until: index.presentationEnd) : []
  }

  /// Adds warnings about data that the container declares but the index lacks.
  package func compare(_ index: inout SourceIndex, _ video: VideoSource?) {
    var settings = settings
    settings.playback.noVideo = video == nil
    settings.playback.noAudio = index.audio.isEmpty
    index.compare(with: opened, [video].compactMap { $0 }, settings)
  }
}

extension StreamPath {
  /// True if one of `pads` is a demuxer pad of this stream.
  fileprivate func originates(from pads: [(factory: String, pad: String)]) -> Bool {
    // The output pads of all parsers are named `src`, so they do not identify a stream.
    steps.contains { step in step.pad != "src" && pads.contains { $0 == (step.factory, step.pad) } }
  }
}
