extension PipelineFile {
  /// Begins to run the file; the result reports the progress.
  ///
  /// - Parameters:
  ///   - values: of the file's parameters.
  ///   - options: memory, spool, strictness, whether outputs may be replaced; the file's own settings count
  ///     more.
  public func start(_ values: [String: String], options: ReverseOptions = ReverseOptions()) -> Reversal {
    Reversal { try PipelineRun(file: self, values: values, options: options, work: $0).run() }
  }

  /// Finds out whether the file could be run with these values, without running it: both halves can be built, and each
  /// appsink has its appsrc.
  ///
  /// - Throws: ``RetrogradeError``, with the place in the file.
  public func check(_ values: [String: String], options: ReverseOptions = ReverseOptions()) async throws {
    try await Work.perform("check") {
      try PipelineRun(file: self, values: values, options: options, work: $0).check()
    }
  }
}
