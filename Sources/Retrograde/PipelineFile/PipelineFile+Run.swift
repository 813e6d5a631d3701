extension PipelineFile {
  /// Begins to run the pipeline file; the result reports the progress.
  ///
  /// - Parameters:
  ///   - values: values of the file's parameters, by name.
  ///   - options: memory, spool, strictness, replacement of existing files. Settings in the
  ///     pipeline file override these options.
  public func start(_ values: [String: String], options: ReverseOptions = ReverseOptions()) -> Reversal {
    Reversal { try PipelineRun(file: self, values: values, options: options, work: $0).run() }
  }

  /// Checks that the pipeline file can be run with these values: both pipelines can be built, and
  /// each appsink has an appsrc of the same name. Runs nothing.
  ///
  /// - Throws: ``RetrogradeError``, with line and column of the mistake.
  public func check(_ values: [String: String], options: ReverseOptions = ReverseOptions()) async throws {
    try await Work.perform("check") {
      try PipelineRun(file: self, values: values, options: options, work: $0).check()
    }
  }
}
