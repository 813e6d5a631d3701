import RetrogradeEngine
import Synchronization

/// Output files of one run. All files get their names at the end of the run, when all are complete
/// and on disk. Until then, existing files with these names stay unchanged. If the run fails, no
/// file is left.
///
/// While the lock of `state` is held, no other lock is taken, and no file operation is done.
final class Outputs: Sendable {
  private struct State {
    var parts: [any OutputPart] = []
    /// ``OutputPart`` that writes each output, by the requested path.
    var owners: [String: any OutputPart] = [:]
  }
  private let overwrites: Bool
  private let inputs: [String]
  private let pipe: (resources: Resources, cancellation: Cancellation)?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - overwrites: true if existing files may be replaced.
  ///   - inputs: input files, which must not be replaced.
  ///   - pipe: resources and cancellation for writing `-` to standard output; nil: `-` is an
  ///     ordinary file name.
  init(
    overwrites: Bool, inputs: [String], pipe: (resources: Resources, cancellation: Cancellation)? = nil
  ) {
    self.overwrites = overwrites
    self.inputs = inputs
    self.pipe = pipe
  }

  /// Runs `body`, which writes the outputs, then gives all outputs their names.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if an input changed during the run
  ///   (`InputStamps`).
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

  /// Adds the output `path`, after checking that it can be created.
  ///
  /// - Parameter isNumbered: true if `path` stands for several files; nil to check whether `path`
  ///   is a pattern of numbered files.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`; `inputOutput` if the disk is full;
  ///   `usage` if `path` selects standard output, and that is a terminal.
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

  /// Returns the temporary path to write the output `path` to. Call ``begin(_:isNumbered:)`` for
  /// the output first. An output whose location is never requested is not created.
  func location(of path: String) throws -> String {
    guard let part = state.withLock({ $0.owners[path] }) else {
      throw RetrogradeError(.internalFailure, about: path, "is not among the outputs of this run")
    }
    return try part.location(of: OutputPlace(path))
  }

  /// Gives all outputs their final names. If one output can't get its name, all names are rolled
  /// back.
  func commit() throws {
    // Standard output comes last, because bytes in a pipe can't be taken back.
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
      let rests = published.reversed().compactMap { $0.rollBack() }
      guard let error = error as? RetrogradeError, !rests.isEmpty else { throw error }
      throw RetrogradeError(
        error.code, about: error.subject, rests.reduce(error.reason) { "\($0); \($1)" }, remedy: error.remedy,
        underlying: error.underlying)
    }
  }

  /// Removes all files that did not get their final names. Call this only after all writing threads
  /// have ended.
  func clear() {
    for part in state.withLock({ $0.parts }) { part.clear() }
  }
}

/// A single output file, or the output files of one folder.
protocol OutputPart: Sendable {
  /// Returns the temporary path to write an output to.
  func location(of place: OutputPlace) throws -> String
  /// Syncs the written data to disk.
  func sync() throws
  /// Gives the files their final names.
  func publish() throws
  /// Removes the final names from the new files, and restores the files that they replaced.
  /// - Returns: message about files that could not be restored; nil if there are none.
  func rollBack() -> String?
  /// Removes files without a final name.
  func clear()
}
