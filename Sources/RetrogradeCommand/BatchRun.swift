import Glibc
import Retrograde
import RetrogradeEngine
import Synchronization

/// Makes mirrors as they come, some at once.
struct BatchRun: Sendable {
  let display: BatchDisplay
  /// How many at once.
  let jobs: Int

  /// How many at once unless somebody says so: each keeps about two cores busy, one that decodes and one that encodes, and wants some memory.
  static func usualJobs(_ memory: ByteCount) -> Int {
    max(1, min(sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2, memory.bytes / (64 << 20)))
  }

  /// Until there are no more, or a signal ends it.
  /// - Parameter ended: told of each how it went.
  /// - Throws: what the first one failed with that has failed; all was told.
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
      let reversal = job.reverser.start(to: job.output)
      result = await withTaskCancellationHandler {
        for await progress in reversal.progress { display.show(progress, of: job) }
        do { return .success(try await reversal.summary()) } catch { return .failure(error) }
      } onCancel: {
        reversal.cancel()
      }
    }
    display.end(job, result)
    return result
  }
}
