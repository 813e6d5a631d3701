import RetrogradeEngine
import Synchronization

/// The files that one run makes. They get their names together, when all are whole and on the disk; until
/// then any old files of those names stay as they are. If the run fails, nothing is left.
///
/// Lock order: none; the lock is not held while files are touched.
final class Outputs: Sendable {
  private struct State {
    var parts: [any OutputPart] = []
    /// Part of each output, by the path that was asked for.
    var owners: [String: any OutputPart] = [:]
  }
  private let overwrites: Bool
  private let inputs: [String]
  private let pipe: (resources: Resources, cancellation: Cancellation)?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - overwrites: whether files that exist may be replaced.
  ///   - inputs: the files that are read, which must not be replaced.
  ///   - pipe: the resources of writing to standard output, for which `-` stands then, and its cancellation;
  ///     nil: `-` is a file's name.
  init(
    overwrites: Bool, inputs: [String], pipe: (resources: Resources, cancellation: Cancellation)? = nil
  ) {
    self.overwrites = overwrites
    self.inputs = inputs
    self.pipe = pipe
  }

  /// Runs `body`, which begins files and has them written, and gives them their names.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if an input was changed meanwhile (`InputStamps`).
  static func write<Value>(
    overwrites: Bool, inputs: [String], pipe: (resources: Resources, cancellation: Cancellation)? = nil,
    _ body: (Outputs) throws -> Value
  ) throws -> Value {
    let outputs = Outputs(overwrites: overwrites, inputs: inputs, pipe: pipe)
    defer { outputs.clear() }
    let value = try InputStamps(inputs).unchanged { try body(outputs) }
    try outputs.commit()
    return value
  }

  /// Finds out whether `path` can be made, before any work is done for it.
  ///
  /// - Parameter isNumbered: whether it stands for many files that are named after it; nil: if it is a pattern.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`; `inputOutput` where the disk is full.
  func begin(_ path: String, isNumbered: Bool? = nil) throws {
    let isNumbered = isNumbered ?? ImageSequence.isPattern(path)
    let place = OutputPlace(path)
    let known = state.withLock { $0.parts.lazy.compactMap { $0 as? OutputFolder }.first { $0.folder == place.folder } }
    let part: any OutputPart
    if path == "-", let pipe {
      part = try StandardOutput(pipe.resources, pipe.cancellation)
    } else if isNumbered {
      let folder = known ?? OutputFolder(place.folder, overwrites: overwrites)
      try folder.add(place, inputs: inputs)
      part = folder
    } else {
      part = try OutputFile(place, overwrites: overwrites, inputs: inputs)
    }
    state.withLock { state in
      if !isNumbered || known == nil { state.parts.append(part) }
      state.owners[path] = part
    }
  }

  /// Path to which `path`, which was begun, is to be written. An output that is never asked for is not made.
  func location(of path: String) throws -> String {
    guard let part = state.withLock({ $0.owners[path] }) else {
      throw RetrogradeError(.internalFailure, about: path, "was not begun")
    }
    return try part.location(of: OutputPlace(path))
  }

  /// Gives all files their names, or none.
  func commit() throws {
    // Bytes that have gone through a pipe can't be taken back.
    let all = state.withLock { $0.parts }
    let parts = all.filter { !($0 is StandardOutput) } + all.filter { $0 is StandardOutput }
    for part in parts { try part.sync() }
    Log.write.info("all is on the disk, and gets its names: \(state.withLock { $0.owners.keys.sorted() })")
    var published: [any OutputPart] = []
    do {
      for part in parts {
        published.append(part)
        try part.publish()
      }
    } catch {
      let rests = published.reversed().compactMap { $0.withdraw() }
      guard let error = error as? RetrogradeError, !rests.isEmpty else { throw error }
      throw RetrogradeError(
        error.code, about: error.subject, rests.reduce(error.reason) { "\($0); \($1)" }, remedy: error.remedy,
        underlying: error.underlying)
    }
  }

  /// Removes all files that did not get a name that was asked for, once no thread writes any more.
  func clear() {
    for part in state.withLock({ $0.parts }) { part.clear() }
  }
}

/// One file that is made, or the many of one folder.
protocol OutputPart: Sendable {
  /// Path to which an output is written until it is whole.
  func location(of place: OutputPlace) throws -> String
  /// Brings the bytes to the disk.
  func sync() throws
  /// Gives the final names.
  func publish() throws
  /// Takes back the names that were given, and brings back the old files.
  /// - Returns: words on files that could not be brought back, if any.
  func withdraw() -> String?
  /// Removes the files that have no final name.
  func clear()
}
