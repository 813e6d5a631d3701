package import Foundation

/// A child process of a test.
///
/// In Foundation, a child process inherits the pipes of other child processes, and the sockets that
/// report their end. A long-running child could then block the reader of another child's output. So
/// programs are started one at a time, each with its own pipes.
package final class Program {
  private static let starting = NSLock()

  package let process = Process()
  private var output: FileHandle?
  private var errors: FileHandle?
  /// Bytes of standard error that were already read line by line.
  private var seen = Data()

  /// Exit status and output of a program.
  package struct Ending: Error {
    /// Exit status, or the number of the signal that ended the program.
    package var status: Int32
    package var isCrash: Bool
    package var output: Data
    package var errors: String
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// Starts the program.
  /// - Parameters:
  ///   - variables: environment variables that are added to `environment`.
  ///   - environment: all other environment variables; by default those of this process.
  ///   - output: standard output, instead of the pipe that ``line()`` and ``end()`` read.
  ///   - errors: standard error, instead of the pipe that ``errorLine()`` and ``end()`` read.
  package init(
    _ path: String, _ arguments: [String], in folder: URL? = nil, variables: [String: String] = [:],
    environment: [String: String] = ProcessInfo.processInfo.environment, input: FileHandle? = nil,
    output given: FileHandle? = nil, errors givenErrors: FileHandle? = nil
  ) throws {
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = environment.merging(variables) { $1 }
    if let folder { process.currentDirectoryURL = folder }
    if let input { process.standardInput = input }
    Program.starting.lock()
    defer { Program.starting.unlock() }
    if let given { process.standardOutput = given } else { output = pipe { process.standardOutput = $0 } }
    if let givenErrors { process.standardError = givenErrors } else { errors = pipe { process.standardError = $0 } }
    try process.run()
  }

  private func pipe(_ set: (Pipe) -> Void) -> FileHandle {
    let pipe = Pipe()
    set(pipe)
    return pipe.fileHandleForReading
  }

  /// Reads the next line of standard output; returns nil at the end of the output.
  package func line() -> String? { output.flatMap { Program.line($0) }.map { String(decoding: $0, as: UTF8.self) } }

  /// Reads the next line of standard error; returns nil at the end, and for an empty line.
  package func errorLine() -> String? {
    guard let line = errors.flatMap({ Program.line($0) }) else { return nil }
    seen += line + Data("\n".utf8)
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  private static func line(_ handle: FileHandle) -> Data? {
    var line = Data()
    while let byte = try? handle.read(upToCount: 1), !byte.isEmpty {
      if byte == Data("\n".utf8) { return line }
      line += byte
    }
    return line.isEmpty ? nil : line
  }

  /// Waits until the program ends.
  package func end() -> Ending {
    // Reads standard output and standard error at the same time, because a full pipe would block
    // the program.
    let errors = Reading(errors)
    let output = (try? self.output?.readToEnd()) ?? Data()
    let messages = seen + errors.bytes()
    process.waitUntilExit()
    return Ending(
      status: process.terminationStatus, isCrash: process.terminationReason == .uncaughtSignal, output: output,
      errors: String(decoding: messages, as: UTF8.self))
  }

  /// Starts a program, and waits for its end.
  package static func run(_ path: String, _ arguments: [String]) throws -> Ending {
    try Program(path, arguments).end()
  }

  /// Like ``run(_:_:)``, but throws if the program fails.
  /// - Throws: ``Ending`` if its status is not 0.
  package static func succeed(_ path: String, _ arguments: [String]) throws -> Ending {
    let ending = try run(path, arguments)
    guard ending.status == 0 else { throw ending }
    return ending
  }
}

/// Reads a handle to its end on a separate thread.
private final class Reading: @unchecked Sendable {  // `read` is set before `isRead` is signalled
  private let isRead = DispatchSemaphore(value: 0)
  private var read = Data()

  init(_ handle: FileHandle?) {
    Thread.detachNewThread { [self] in
      read = (try? handle?.readToEnd()) ?? Data()
      isRead.signal()
    }
  }

  func bytes() -> Data {
    isRead.wait()
    return read
  }
}
