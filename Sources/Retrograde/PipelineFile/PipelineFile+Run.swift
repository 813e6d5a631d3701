extension PipelineFile {
  /// Begins to run the file; the result reports the progress.
  ///
  /// - Parameters:
  ///   - values: values of the file's parameters, by name.
  ///   - options: memory, spool, strictness, replacement of existing files. The file's own settings
  ///     override these options.
  public func start(_ values: [String: String], options: ReverseOptions = ReverseOptions()) -> Reversal {
    Reversal { try PipelineRun(file: self, values: values, options: options, work: $0).run() }
  }

  /// Checks, without running the file, that the file can be run with these values: both halves can
  /// be built, and each appsink has its appsrc.
  ///
  /// - Throws: ``RetrogradeError``, with line and column.
  public func check(_ values: [String: String], options: ReverseOptions = ReverseOptions()) async throws {
    try await Work.perform("check") {
      try PipelineRun(file: self, values: values, options: options, work: $0).check()
    }
  }
}
