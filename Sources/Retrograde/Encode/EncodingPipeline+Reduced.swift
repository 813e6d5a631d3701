import GStreamer
import RetrogradeEngine

extension EncodingPipeline {
  /// Warnings about video that is encoded with a lower bit depth or less chroma than the frames
  /// have. Call this before the pipeline stops, because the answer comes from the caps in the
  /// pipeline.
  var reducedFormats: [Warning] {
    contents.videos.compactMap { video in
      guard video.packets == nil, let own = video.caps.string("format").flatMap({ PixelFormat($0) }),
        let encoder = pipeline.element(video.name)?.downstream.first(where: { $0.isOfClass("Encoder") }),
        let taken = encoder.firstSinkPad?.caps?.string("format").flatMap({ PixelFormat($0) })
      else { return nil }
      let changes = [
        taken.depth < own.depth ? "\(own.depth) bits a sample become \(taken.depth)" : nil,
        video.caps.isRGB && taken.hasHalvedChroma ? "RGB becomes \(taken.chroma ?? "YUV")" : nil,
        taken.hasLessChroma(than: own) ? "chroma of \(own.chroma ?? "?") becomes \(taken.chroma ?? "?")" : nil,
      ].compactMap { $0 }
      return changes.isEmpty ? nil : Warning(.converted, "changed: the video's \(changes.joined(separator: " and "))")
    }.unique
  }
}
