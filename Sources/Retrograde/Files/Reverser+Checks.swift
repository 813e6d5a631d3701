import RetrogradeEngine

extension Reverser {
  /// Whether a file name extension, in upper or lower case, is that of a container that can be written.
  package static func writes(fileExtension: String) -> Bool {
    Container.extensions.contains(fileExtension.lowercased())
  }

  /// Checks that `output` can be made, before any work is done for it or for others.
  ///
  /// - Parameter inputs: files that must not be replaced, beside this one's own inputs.
  /// - Throws: ``RetrogradeError``.
  package func checkOutput(_ output: String, besides inputs: [String]) throws {
    _ = try Container.of(output, format: options.encoding.format)
    let outputs = Outputs(
      overwrites: options.output.overwrites, inputs: self.inputs + inputs, pipe: (options.resources, Cancellation()))
    defer { outputs.clear() }
    try outputs.begin(output)
  }

  /// The same, with so much of the memory for each of `count` that run at once.
  package func sharing(by count: Int) -> Reverser {
    var reverser = self
    reverser.options.resources = options.resources.shared(by: count)
    return reverser
  }
}
