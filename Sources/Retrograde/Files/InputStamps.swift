import Glibc
import RetrogradeEngine

/// State of the input files at the start of a run, to detect changes. Each pass over the input
/// opens the files again, so a change between two passes would mix old and new frames.
struct InputStamps: Sendable {
  fileprivate struct File: Sendable {
    /// Name of the file in messages.
    var name: String
    var path: String
    var identity: FileIdentity
    var stamp: FileStamp
  }
  fileprivate let files: [File]

  /// - Parameter inputs: files, `-`, or patterns of numbered files. Pipes and web addresses are
  ///   skipped, because they are read only once.
  init(_ inputs: [String]) {
    files = inputs.flatMap { input in
      FileIdentity.paths(of: input).compactMap { path in
        guard let stamp = FileStamp(plainFile: path, atLeast: 0), let identity = FileIdentity(ofFileAt: path) else {
          return nil
        }
        return File(name: input == "-" ? "standard input" : path, path: path, identity: identity, stamp: stamp)
      }
    }
  }

  /// Checks that no file has changed.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`. Its message describes how the first
  ///   changed file has changed.
  func check() throws {
    for file in files {
      guard let change = file.change else { continue }
      throw RetrogradeError(
        .inputOutput, about: file.name, "\(change) while it was read",
        remedy: "run the command again when no program, such as a recorder, writes to the file")
    }
  }

  /// Runs `body`, then checks that no file has changed. If a file has changed, throws an error
  /// about the change, even if `body` threw an error that the change may have caused.
  func unchanged<Value>(during body: () throws -> Value) throws -> Value {
    let value: Value
    do {
      value = try body()
    } catch let error as RetrogradeError
      where [.damagedInput, .noInput, .internalFailure, .inputOutput, .notAMirror].contains(error.code)
    {
      try check()
      throw error
    }
    try check()
    return value
  }
}

extension InputStamps.File {
  /// Change of the file, in words; nil if the file is unchanged.
  fileprivate var change: Message? {
    guard let now = FileStamp(path), let identity = FileIdentity(ofFileAt: path) else {
      return "was removed or renamed"
    }
    if identity != self.identity { return "was replaced by another file" }
    if now.size > stamp.size {
      return "grew from \(stamp.size) to \(now.size) bytes"
    }
    if now.size < stamp.size { return "was cut from \(stamp.size) to \(now.size) bytes" }
    return now == stamp ? nil : "was changed"
  }
}
