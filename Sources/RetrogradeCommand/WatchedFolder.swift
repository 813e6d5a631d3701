import CSystemSupport
import Glibc
import Retrograde
import RetrogradeEngine
import Synchronization
import Paths

/// Folder whose media files are each reversed once, when complete, into another folder.
final class WatchedFolder: Sendable {
  private struct State {
    /// Stamps (inode, size and modification time) of queued and running files, taken when the files
    /// were queued. The keys are the bytes of the file names, because strings in different Unicode
    /// forms would be equal.
    var underWay: [[UInt8]: FileStamp] = [:]
    /// Names of queued or running files that were reported again after they were queued.
    var again: Set<[UInt8]> = []
    /// Stamps of files that failed for a reason other than damage, taken when the files were
    /// queued. A later run tries these files again, unless they crashed the process.
    var failed: [[UInt8]: FileStamp] = [:]
    var count = 0
    var isGone = false
  }

  private let folder: String
  let record: WatchRecord
  private let makeJob: @Sendable (_ path: String, _ number: Int) -> MirrorJob
  private let line: AsyncStream<MirrorJob>.Continuation
  /// Stream of jobs, one for each file that arrives. The stream ends when the folder is removed or
  /// renamed.
  let coming: AsyncStream<MirrorJob>
  private let state = Mutex(State())

  /// File name extensions that other programs use for unfinished files.
  private static let unfinished: Set = ["part", "partial", "crdownload", "download", "tmp"]

  /// - Parameters:
  ///   - target: folder of the outputs and of the record of finished files.
  ///   - makeJob: creates the job for a file.
  init(
    _ folder: String, into target: String, _ makeJob: @escaping @Sendable (_ path: String, _ number: Int) -> MirrorJob
  ) throws {
    self.folder = try absolutePath(folder)
    record = WatchRecord(in: target)
    self.makeJob = makeJob
    (coming, line) = AsyncStream.makeStream(of: MirrorJob.self)
  }

  /// Watches the folder while `body` runs. `body` reads the jobs from ``coming``.
  /// - Throws: errors of `body`; ``RetrogradeError`` of code `noInput` if the folder cannot be
  ///   watched, or was removed or renamed.
  func watching(_ body: () async throws -> Void) async throws {
    // Start watching first, so that files that arrive during the scan are reported too.
    let watch = try FolderWatch(folder) { [self] event in
      switch event {
      case .closed(let name): take(name)
      case .appeared(let name): take(name, unlessUnknown: true)
      case .missedSome: takeAll()
      case .gone:
        state.withLock { $0.isGone = true }
        line.finish()
      }
    }
    defer { watch.stop() }
    takeAll()
    try await body()
    guard state.withLock({ $0.isGone }) else { return }
    throw RetrogradeError(
      .noInput, about: folder, "the watched folder was removed or renamed", remedy: "watch another folder")
  }

  /// Records the result of a job. Queues the job's file again if the file changed during the job.
  func end(_ job: MirrorJob, _ result: Result<Summary, any Error>) {
    let name = job.input.lastPart
    guard let before = state.withLock({ $0.underWay[name.pathBytes] }) else { return }
    let isSame = FileStamp(job.input) == before
    do {
      switch result {
      case .success where isSame: try record.add(job.input, before, isMade: true)
      case .failure(let error as RetrogradeError) where error.code == .damagedInput && isSame:
        try record.add(job.input, before, isMade: false)
      case .failure(let error) where !(error is CancellationError):
        state.withLock { $0.failed[name.pathBytes] = before }
      default: break
      }
    } catch {
      Terminal.error("retrograde: \((error as? RetrogradeError)?.message.inOptions ?? String(describing: error))")
    }
    let isAgain = state.withLock { state in
      state.underWay[name.pathBytes] = nil
      return state.again.remove(name.pathBytes) != nil
    }
    if isAgain || !isSame { take(name) }
  }

  private func takeAll() {
    for name in (fileNames(in: folder) ?? []).sorted() { take(name, isFound: true) }
  }

  /// Queues a media file, unless it is incomplete or already queued, or was tried before and has
  /// not changed since.
  ///
  /// - Parameters:
  ///   - isFound: true if a scan of the folder found the file. Such a file needs no job if its
  ///     output is newer than the file.
  ///   - unlessUnknown: true to skip the file if it is unknown whether the file is open for
  ///     writing. A later event reports when the file is closed.
  private func take(_ name: String, isFound: Bool = false, unlessUnknown isUnknownLeft: Bool = false) {
    let path = "\(folder)/\(name)"
    guard !name.hasPrefix("."), !WatchedFolder.unfinished.contains(name.fileExtension),
      // A recorder creates its file before writing any data, so empty files are skipped.
      let stamp = FileStamp(plainFile: path, atLeast: 1)
    else { return }
    switch WatchedFolder.isBeingWritten(path) {
    case true?: return
    case nil where isUnknownLeft: return
    default: break
    }
    if record.knows(path, stamp) { return }
    guard MediaFolder.isTaken(path) else { return }
    let job: MirrorJob? = state.withLock { state in
      if state.underWay[name.pathBytes] != nil {
        state.again.insert(name.pathBytes)
        return nil
      }
      if state.failed[name.pathBytes] == stamp { return nil }
      let job = makeJob(path, state.count)
      if isFound, FileStamp.isNewer(job.output, than: path) { return nil }
      state.count += 1
      state.underWay[name.pathBytes] = stamp
      return job
    }
    if let job { line.yield(job) }
  }

  /// True if the file is open for writing; nil if unknown, as for files of other users and on file
  /// systems without leases.
  private static func isBeingWritten(_ path: String) -> Bool? {
    let descriptor = open(path.cPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let answer = system_is_written(descriptor)
    return answer < 0 ? nil : answer != 0
  }
}

extension String {
  /// Text after the last dot, in lower case.
  fileprivate var fileExtension: String { lastIndex(of: ".").map { self[index(after: $0)...].lowercased() } ?? "" }
}
