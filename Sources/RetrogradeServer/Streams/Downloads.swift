import Retrograde
import RetrogradeEngine
import Synchronization

/// Makes files for download, each with a whole stream or a range of a stream. Makes one file at a
/// time, and keeps the last file, so that an interrupted download can resume.
final class Downloads: Sendable {
  private struct Job: Hashable {
    var version: String
    var stretch: DownloadRange
  }

  private let works = SingleFlight<Job, StoredBytes>()
  private let resources: Resources
  private let crashes: CrashedFiles
  private let run: ServerRunning
  private let last = Mutex<(job: Job, bytes: StoredBytes)?>(nil)

  init(_ resources: Resources, _ crashes: CrashedFiles, run: @escaping ServerRunning) {
    (self.resources, self.crashes, self.run) = (resources, crashes, run)
  }

  /// - Throws: ``RetrogradeError`` or `CancellationError`; `WorkLine.Busy` if another file is being
  ///   made.
  func file(_ stretch: DownloadRange, of stream: OpenStream) async throws -> StoredBytes {
    let job = Job(version: stream.version, stretch: stretch)
    if let kept = last.withLock({ $0?.job == job ? $0?.bytes : nil }) { return kept }
    return try await works.value(job) { [self] _ in
      guard works.count <= 1 else { throw WorkLine.Busy() }
      let made = try await make(stretch, stream)
      // Release the old download outside the lock.
      let old = last.withLock { last in
        defer { last = (job, made) }
        return last
      }
      _ = old
      return made
    }
  }

  /// Cancels the work and refuses new work.
  func close() { works.close() }

  private func make(_ stretch: DownloadRange, _ stream: OpenStream) async throws -> StoredBytes {
    let options = ReverseOptions(playback: stretch.playback(stream), resources: resources)
    let name = stretch.fileName(stream).hasSuffix(".m4a") ? "mirror.m4a" : "mirror.mp4"
    // The path is valid as long as the file is open.
    defer { withExtendedLifetime(stream.content) {} }
    return StoredBytes(
      try await crashes.working(on: stream.file.path) { [resources, run] in
        try await ScratchFolder.made(in: resources.spoolDirectory, name) { path in
          _ = try await run(.reverse(inputs: [stream.content.path], options, output: path)).summary()
        }
      })
  }
}
