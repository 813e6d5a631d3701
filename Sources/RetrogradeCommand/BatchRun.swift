import Glibc
import Retrograde
import RetrogradeEngine
import Synchronization

/// Runs jobs as they arrive, several at once, each in its own process.
struct BatchRun: Sendable {
  let display: BatchDisplay
  /// Number of concurrent jobs.
  let jobs: Int
  let limits: ChildLimits
  /// Record of the files whose processes crashed. Such a file is not tried again until the file,
  /// this program or GStreamer changes.
  let record: WatchRecord

  /// Returns the default number of concurrent jobs. Each job uses about two cores, one for decoding
  /// and one for encoding, and some memory.
  static func usualJobs(_ memory: ByteCount) -> Int {
    max(1, min(sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2, memory.bytes / (64 << 20)))
  }

  /// Runs jobs until the stream ends, or a signal cancels the batch.
  /// - Parameter ended: called with the result of each job.
  /// - Throws: ``ReportedError`` for a cancellation, or for the first job in the batch that failed.
  ///   All errors have been displayed before.
  func run(
    _ coming: AsyncStream<MirrorJob>,
    ended: @escaping @Sendable (MirrorJob, Result<Summary, any Error>) -> Void = { _, _ in }
  ) async throws {
    let work = Task {
      await withTaskGroup(of: Void.self) { group in
        var running = 0
        for await job in coming where !Task.isCancelled {
          if running == jobs {
            await group.next()
            running -= 1
          }
          group.addTask {
            let result = await make(job)
            ended(job, result)
          }
          running += 1
        }
      }
    }
    let isCancelled = Mutex(false)
    await Interruption.handled(by: {
      isCancelled.withLock { $0 = true }
      work.cancel()
    }) { await work.value }
    try display.finish(isCancelled: isCancelled.withLock { $0 })
  }

  private func make(_ job: MirrorJob) async -> Result<Summary, any Error> {
    let result: Result<Summary, any Error>
    if Task.isCancelled {
      result = .failure(CancellationError())
    } else {
      display.begin(job)
      result = await made(job)
    }
    display.end(job, result)
    return result
  }

  private func made(_ job: MirrorJob) async -> Result<Summary, any Error> {
    if let refusal = job.refusal { return .failure(refusal) }
    let path = (try? absolutePath(job.input)) ?? job.input
    let stamp = FileStamp(plainFile: path, atLeast: 0)
    if let crash = stamp.flatMap({ record.crash(of: path, $0, called: job.input) }) { return .failure(crash) }
    let reversal = Child.runner(limits).start(job.task) { display.report($0, of: job) }
    return await withTaskCancellationHandler {
      for await progress in reversal.progress { display.show(progress, of: job) }
      do {
        return .success(try await reversal.summary())
      } catch let error as RetrogradeError where error.code == .crashed {
        guard let stamp, FileStamp(path) == stamp else { return .failure(error) }
        do { try record.add(path, stamp, isMade: false, isCrash: true) } catch { display.report("\(error)", of: job) }
        return .failure(error)
      } catch {
        return .failure(error)
      }
    } onCancel: {
      reversal.cancel()
    }
  }
}
