import FoundationEssentials
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine

/// A folder in which an output is made in chunks: `plan.json`, `index-0` …, `journal`, `locks`, `chunk-00000` … Any number of processes may
/// work in it, on any number of machines that see it.
struct WorkFolder: Sendable {
  let path: String
  let locks: FileLocks
  let journal: Journal

  init(_ path: String) {
    self.path = path
    locks = FileLocks("\(path)/locks")
    journal = Journal("\(path)/journal", locks)
  }

  private var planPath: String { "\(path)/plan.json" }

  func chunkPath(_ number: Int) -> String {
    let digits = String(number)
    return "\(path)/chunk-\(String(repeating: "0", count: max(0, 5 - digits.count)))\(digits)"
  }

  private func indexPath(_ stream: Int) -> String { "\(path)/index-\(stream)" }

  // MARK: the plan

  /// The plan that is in it; nil where there is none yet.
  func plan() throws -> ChunkPlan? {
    guard let bytes = FileManager.default.contents(atPath: planPath) else {
      if access(planPath, F_OK) != 0 { return nil }
      throw RetrogradeError(.noInput, about: planPath, "\(String(cString: strerror(errno)))")
    }
    do {
      return try JSONDecoder().decode(ChunkPlan.self, from: bytes)
    } catch {
      throw RetrogradeError(
        .damagedInput, about: planPath, "is no plan of this version of Retrograde",
        remedy: "remove \(path), and begin anew")
    }
  }

  /// The plan that is in it.
  /// - Throws: ``RetrogradeError`` of code `noInput` where there is none.
  func knownPlan() throws -> ChunkPlan {
    guard let plan = try plan() else {
      throw RetrogradeError(
        .noInput, about: path, "has no plan in it", remedy: "`retrograde split` makes one")
    }
    return plan
  }

  /// Makes the folder, and writes a plan into it; it is there when all of it is.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`, where there is something else in the folder.
  func begin(_ plan: ChunkPlan, _ indexes: [VideoIndex]) throws {
    if mkdir(path, 0o777) != 0, errno != EEXIST {
      throw RetrogradeError(
        .cannotCreateOutput, about: path, "can't be made: \(String(cString: strerror(errno)))",
        remedy: "name a folder that can")
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let text = try Array(encoder.encode(plan))
    for (stream, index) in indexes.enumerated() {
      try write(StoredVideoIndex.bytes(of: index), to: indexPath(stream), overwrites: true)
    }
    try write(text, to: planPath, overwrites: false)
  }

  /// Finds out whether it is a folder for work, or can become one.
  /// - Throws: ``RetrogradeError`` of code `cannotCreateOutput`.
  func check() throws {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
    if let stranger = names.sorted().first(where: { !WorkFolder.isOurs($0) }) {
      throw RetrogradeError(
        .cannotCreateOutput, about: path, "is no folder for work: \(stranger) is in it",
        remedy: "name a new folder, or an empty one")
    }
  }

  private static func isOurs(_ name: String) -> Bool {
    ["plan.json", "journal", "locks"].contains(name)
      || ["index-", "chunk-", ".retrograde-", "slurm-", "submit-"].contains { name.hasPrefix($0) }
  }

  private func write(_ bytes: [UInt8], to path: String, overwrites: Bool) throws {
    try Outputs.write(overwrites: overwrites, inputs: []) { outputs in
      try outputs.begin(path)
      let file = try ByteFile(outputs.location(of: path), for: path)
      try bytes.withUnsafeBytes { try file.write($0) }
    }
  }

  /// The index of a video of the plan.
  func index(_ stream: Int, of plan: ChunkPlan) throws -> VideoIndex {
    let path = indexPath(stream)
    guard let bytes = FileManager.default.contents(atPath: path),
      let index = plan.videos[stream].index.index(Array(bytes))
    else {
      throw RetrogradeError(
        .damagedInput, about: path, "is missing, or not what it was when the plan was made",
        remedy: "remove \(self.path), and begin anew")
    }
    return index
  }

  /// Removes all that is ours in it, and the folder, unless there is something else in it.
  func remove() throws {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    // The plan first: without it nobody takes what is left for a beginning.
    for name in names.filter(WorkFolder.isOurs).sorted(by: { $0 == "plan.json" || $1 != "plan.json" && $0 < $1 }) {
      unlink("\(path)/\(name)")
    }
    rmdir(path)
  }

  // MARK: what is done

  /// Locks 0 … are those of chunks; these come after them.
  enum Lock {
    static let journal = 1 << 30
    static let join = journal + 1
    static let plan = journal + 2
  }

  func note(_ event: Journal.Event) throws { try journal.add(event, lock: Lock.journal) }
}

/// What the journal says of a plan's chunks.
struct ChunkStates: Sendable {
  /// The last event of each chunk; nil where nothing has happened.
  private(set) var last: [Journal.Event?]
  /// The events that say that one is done.
  private(set) var done: [Journal.Event?]
  private var place = 0

  init(count: Int) {
    last = Array(repeating: nil, count: count)
    done = last
  }

  /// Takes in what has been written since.
  mutating func update(from journal: Journal) throws {
    let (events, end) = try journal.events(from: place)
    place = end
    for event in events where last.indices.contains(event.chunk) {
      last[event.chunk] = event
      switch event.event {
      case .done: done[event.chunk] = event
      case .lost: done[event.chunk] = nil
      case .begun, .failed: break
      }
    }
  }

  var areAllDone: Bool { done.allSatisfy { $0 != nil } }
}
