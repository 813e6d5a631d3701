import RetrogradeEngine

extension Reverser {
  /// True if a container with this file name extension can be written. Ignores case.
  package static func writes(fileExtension: String) -> Bool {
    Container.extensions.contains(fileExtension.lowercased())
  }

  /// Checks that `output` can be created, before any work is done.
  ///
  /// - Parameter inputs: other files that must not be replaced, besides this reverser's inputs.
  /// - Throws: ``RetrogradeError``.
  package func checkOutput(_ output: String, besides inputs: [String]) throws {
    _ = try Container.of(output, format: options.encoding.format)
    let outputs = Outputs(
      overwrites: options.output.overwrites, inputs: self.inputs + inputs, pipe: (options.resources, Cancellation()))
    defer { outputs.clear() }
    try outputs.begin(output)
  }

  /// Returns a copy with the share of memory for one of `count` concurrent runs.
  package func sharing(by count: Int) -> Reverser {
    var reverser = self
    reverser.options.resources = options.resources.shared(by: count)
    return reverser
  }
}
