/// The two pipelines of a reversal, in `gst-launch-1.0` syntax. This library connects them.
public struct PipelineDescriptions: Sendable {
  /// Pipeline that decodes. The output of its appsinks is reversed.
  public var decoding: String
  /// Pipeline that encodes and writes. Its appsrcs have the names of the appsinks.
  public var encoding: String
  /// Settings that ``PipelineFile`` writes as `@name value`: order of play, tags, orientation.
  public var settings: [String]
  /// Details of the source that the output lacks or changes, as in ``Summary/warnings`` of a
  /// reversal.
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
