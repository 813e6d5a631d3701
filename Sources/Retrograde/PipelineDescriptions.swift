/// The two pipelines of a reversal, in `gst-launch-1.0` syntax, that this library joins.
public struct PipelineDescriptions: Sendable {
  /// Pipeline that decodes; the output of its appsinks is reversed.
  public var decoding: String
  /// Pipeline that encodes and writes the input of its appsrcs, which have the same names.
  public var encoding: String
  /// Settings that ``PipelineFile`` writes as `@name value`: the order of play, tags, orientation.
  public var settings: [String]
  /// Details of the source that the output does not have, or has otherwise, as ``Summary/warnings`` of a
  /// reversal would list them.
  public var warnings: [Warning] = []

  /// Text of a pipeline file.
  public var file: String {
    (["# Made by retrograde reverse --print-pipeline; retrograde run FILE runs it."] + settings
      + [decoding, "---", encoding]).joined(separator: "\n") + "\n"
  }
}

extension Reverser {
  /// The pipelines that would reverse the source into `output`. Nothing is written.
  ///
  /// - Throws: ``RetrogradeError``.
  public func pipelines(to output: String) async throws -> PipelineDescriptions {
    try await Work.perform("describe") { try pipelines(to: output, $0) }
  }
}
