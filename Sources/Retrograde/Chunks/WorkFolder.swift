import FoundationEssentials
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine
import Paths

/// Folder in which an output is made in chunks: `plan.json`, `index-0` …, `journal`, `locks`,
/// `chunk-00000` … Any number of processes, on any number of machines, can work in the folder.
struct WorkFolder: Sendable {
  let path: String
  let locks: FileLocks
  let journal: Journal
  private let planFile: PlanFile

  init(_ path: String) {
    self.path = path
    locks = FileLocks("\(path)/locks")
    journal = Journal("\(path)/journal", locks)
    planFile = PlanFile("\(path)/plan.json")
  }

  func chunkPath(_ number: Int) -> String {
    let digits = String(number)
    return "\(path)/chunk-\(String(repeating: "0", count: max(0, 5 - digits.count)))\(digits)"
  }

  private func indexPath(_ stream: Int) -> String { "\(path)/index-\(stream)" }

  // MARK: the plan

  /// Reads the plan; nil if the folder has no plan yet.
  func plan() throws -> ChunkPlan? {
    guard let bytes = try planFile.read() else { return nil }
    do {
      return try JSONDecoder().decode(ChunkPlan.self, from: bytes)
    } catch {
      throw RetrogradeError(
        .damagedInput, about: planFile.path, "is damaged, or was written by another version of Retrograde",
        remedy: "remove \(path), and start again")
    }
  }

  /// True if the plan file that was read still exists. The plan is removed before the journal. If
  /// the plan exists, the journal therefore still existed when this process read the journal.
  var isThere: Bool { planFile.isThere }

  /// - Throws: ``RetrogradeError`` of code `noInput` if the plan is gone.
  func checkIsThere() throws {
    guard isThere else { throw RetrogradeError(.noInput, about: path, "was removed", remedy: "start again") }
  }

  /// True if the file at `path` was written after the plan.
  func isOlder(than path: String) -> Bool { planFile.isOlder(than: path) }

  /// Reads the plan.
  /// - Throws: ``RetrogradeError`` of code `noInput` if the folder has no plan.
  func knownPlan() throws -> ChunkPlan {
    guard let plan = try plan() else {
      throw RetrogradeError(
        .noInput, about: path, "contains no plan", remedy: "`retrograde work split` makes one")
    }
    return plan
  }

  /// Creates the folder, and writes a plan into the folder; `plan.json` is written last. If another
  /// process was faster, keeps that process's plan. Otherwise, first removes files that remain from
  /// an earlier plan.
  ///
  /// - Returns: the plan that is now in the folder.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput` if the folder can't be created.
  func begin(_ plan: ChunkPlan, _ indexes: [VideoIndex], _ cancellation: Cancellation) throws -> ChunkPlan {
    let held = try enter(cancellation)
    defer { withExtendedLifetime(held) {} }
    if let known = try self.plan() { return known }
    removeFiles { !["locks"].contains($0) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let text = try Array(encoder.encode(plan))
    for (stream, index) in indexes.enumerated() {
      try write(StoredVideoIndex.bytes(of: index), to: indexPath(stream))
    }
    try write(text, to: planFile.path)
    return try knownPlan()
  }

  /// Creates the folder if it is missing, and takes the lock for creating and removing plans.
  private func enter(_ cancellation: Cancellation) throws -> FileLocks.Held {
    while true {
      if mkdir(path.cPath, 0o777) != 0 {
        let reason = errno
        var info = stat()
        // True if a file or a dangling link at this path prevents the creation of the folder. False
        // if the folder exists, or if another process has just removed the folder.
        let isInTheWay =
          lstat(path.cPath, &info) == 0 && (stat(path.cPath, &info) != 0 || info.st_mode & S_IFMT != S_IFDIR)
        guard reason == EEXIST, !isInTheWay else {
          throw RetrogradeError(
            .cannotCreateOutput, about: path, "can't be created: \(String(cString: strerror(reason)))",
            remedy: "use another folder")
        }
      }
      do {
        return try locks.wait(for: Lock.plan, makesFile: true, cancellation)
      } catch let error as RetrogradeError where error.code == .noInput {
        // The previous owner of the lock removed the folder, so create the folder again.
        continue
      }
    }
  }

  /// Checks that the path is a work folder, or can become one.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput` if the folder contains other files.
  func check() throws {
    guard let names = fileNames(in: path) else { return }
    if let stranger = names.sorted().first(where: { !WorkFolder.isOurs($0) }) {
      throw RetrogradeError(
        .cannotCreateOutput, about: path, "can't be used as a work folder: it contains \(stranger)",
        remedy: "use a new or an empty folder")
    }
  }

  /// True for names of files that are written by this type, by `OutputFile` (temporary names), by
  /// `retrograde work submit`, or by its Slurm jobs.
  static func isOurs(_ name: String) -> Bool {
    ["plan.json", "journal", "locks", "submit-chunks.sh", "submit-join.sh"].contains(name)
      || name.wholeMatch(of: /index-[0-9]+|chunk-[0-9]{5,}|slurm-[0-9]+_[0-9]+\.out|\.retrograde-[0-9a-z]+/) != nil
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    try Outputs.write(overwrites: true, inputs: []) { outputs in
      try outputs.begin(path)
      let file = try ByteFile(outputs.location(of: path), for: path)
      try bytes.withUnsafeBytes { try file.write($0) }
    }
  }

  /// Reads the index of a video of the plan.
  func index(_ stream: Int, of plan: ChunkPlan) throws -> VideoIndex {
    let path = indexPath(stream)
    guard let bytes = fileBytes(at: path),
      let index = plan.videos[stream].index.index(bytes)
    else {
      throw RetrogradeError(
        .damagedInput, about: path, "is missing, or was changed since the plan was made",
        remedy: "remove \(self.path), and start again")
    }
    return index
  }

  /// Removes all files that Retrograde wrote, then the folder, unless other files are left in the
  /// folder.
  ///
  /// The plan and the journal are removed last. If the removal is interrupted, the journal tells a
  /// later run that the output is complete.
  func remove(_ cancellation: Cancellation) throws {
    let held = try locks.wait(for: Lock.plan, cancellation)
    defer { withExtendedLifetime(held) {} }
    clear()
  }

  /// Completes a removal that was interrupted after the plan was removed. No work is lost, because
  /// a removal begins only after the output is complete.
  func removeLeftovers() throws {
    let names = fileNames(in: path) ?? []
    // Do nothing if the lock is taken: another process is creating a plan, or removing the files.
    guard !names.isEmpty, !names.contains("plan.json"), let held = try locks.take(Lock.plan, makesFile: true) else {
      return
    }
    defer { withExtendedLifetime(held) {} }
    if !exists(at: planFile.path) { clear() }
  }

  private func clear() {
    let last = ["plan.json", "journal", "locks"]
    removeFiles { !last.contains($0) }
    for name in last { unlink("\(path)/\(name)".cPath) }
    rmdir(path.cPath)
  }

  private func removeFiles(_ isMeant: (String) -> Bool) {
    let names = fileNames(in: path) ?? []
    for name in names where WorkFolder.isOurs(name) && isMeant(name) { unlink("\(path)/\(name)".cPath) }
  }

  // MARK: locks and journal

  /// Numbers of the locks that belong to no chunk. The lock of a chunk has the chunk's number.
  enum Lock {
    static let journal = 1 << 30
    static let join = journal + 1
    static let plan = journal + 2
  }

  func note(_ event: Journal.Event) throws { try journal.add(event, lock: Lock.journal) }
}
