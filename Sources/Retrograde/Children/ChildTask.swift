import RetrogradeEngine

/// Work for a process of its own: a line of JSON on its standard input.
package enum ChildTask: Codable, Sendable {
  /// ``Reverser/reverse(to:)``.
  case reverse(inputs: [String], ReverseOptions, output: String)
  /// ``FrameGrab/write(to:)``.
  case frames(input: String, [SourcePosition], ReverseOptions, output: String)

  /// Name of the source in messages.
  var input: String {
    switch self {
    case .reverse(let inputs, _, _): Reverser.name(of: inputs)
    case .frames(let input, _, _, _): input
    }
  }

  /// Begins the work in this process.
  func start() -> Reversal {
    switch self {
    case .reverse(let inputs, let options, let output): Reverser(inputs, options: options).start(to: output)
    case .frames(let input, let places, let options, let output):
      FrameGrab(input, at: places, options: options).start(to: output)
    }
  }
}

/// A line that a child process writes to its standard output. The last one is not progress.
enum ChildReport: Codable, Sendable {
  case progress(ReversalProgress)
  case made(Summary)
  case failed(RetrogradeError)
  case cancelled
}
