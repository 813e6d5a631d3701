/// The two pipelines of a reversal, in `gst-launch-1.0` syntax. This library reverses the output of
/// the first pipeline, and pushes the result into the second one.
public struct PipelineDescriptions: Sendable {
  /// Pipeline that decodes the source into appsinks.
  public var decoding: String
  /// Pipeline that encodes and writes the output. Each appsrc has the name of the appsink whose
  /// stream it gets.
  public var encoding: String
  /// Settings as lines `@name value` of a ``PipelineFile``: order of play, orientation, and others.
  public var settings: [String]
  /// Warnings about details of the source that the output would lack or change; a reversal reports
  /// them in ``Summary/warnings``.
  public var warnings: [Warning] = []

  /// Text of a pipeline file with both pipelines.
  public var file: String {
    (["# Made by retrograde reverse --print-pipeline; retrograde run FILE runs it."] + settings
      + [decoding, "---", encoding]).joined(separator: "\n") + "\n"
  }
}

extension Reverser {
  /// Describes the pipelines that would reverse the source into `output`. Writes nothing.
  ///
  /// - Throws: ``RetrogradeError``.
  public func pipelines(to output: String) async throws -> PipelineDescriptions {
    try await Work.perform("describe") { try pipelines(to: output, $0) }
  }
}
