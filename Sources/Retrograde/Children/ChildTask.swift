import RetrogradeEngine

/// Request to a child process: the first line on its standard input, in JSON.
enum ChildRequest: Codable, Sendable {
  /// Perform one task, and exit.
  case once(ChildTask)
  /// Open a source, and encode its segments on request.
  case segments(path: String, SegmentedMirror.Settings)
}

/// Task that writes a file.
package enum ChildTask: Codable, Sendable {
  /// Reverses the inputs into the output, as ``Reverser/reverse(to:)`` does.
  case reverse(inputs: [String], ReverseOptions, output: String)
  /// Writes frames of the input as images, as ``FrameGrab/write(to:)`` does.
  case frames(input: String, [SourcePosition], ReverseOptions, output: String)

  /// Name of the source in messages.
  package var input: String {
    switch self {
    case .reverse(let inputs, _, _): Reverser.name(of: inputs)
    case .frames(let input, _, _, _): input
    }
  }

  /// Begins the task in this process.
  package func start() -> Reversal {
    switch self {
    case .reverse(let inputs, let options, let output): Reverser(inputs, options: options).start(to: output)
    case .frames(let input, let places, let options, let output):
      FrameGrab(input, at: places, options: options).start(to: output)
    }
  }
}

/// Line that a child process writes to its standard output. All lines except the last one report
/// progress.
enum ChildReport: Codable, Sendable {
  case progress(ReversalProgress)
  case made(Summary)
  case failed(RetrogradeError)
  case cancelled
}
