import RetrogradeEngine

/// Handle of a running reversal: its progress, its result, and its cancellation.
public struct Reversal: Sendable {
  /// Progress of the work, several times a second. The stream finishes when the work ends or fails.
  /// If the consumer is slow, only the newest value is kept.
  public let progress: AsyncStream<ReversalProgress>
  private let cancellation: Cancellation
  private let work: Task<Summary, any Error>

  init(_ job: @escaping @Sendable (Work) throws -> Summary) {
    let (stream, continuation) = AsyncStream.makeStream(of: ReversalProgress.self, bufferingPolicy: .bufferingNewest(1))
    progress = stream
    let cancellation = Cancellation()
    self.cancellation = cancellation
    work = Task {
      defer { continuation.finish() }
      return try await onOwnThread("reverse", cancellation) {
        try job(Work(cancellation) { continuation.yield($0) })
      }
    }
  }

  /// Waits for the end of the work. Cancelling the waiting task cancels the work.
  /// - Throws: ``RetrogradeError``, or `CancellationError` if the work was cancelled.
  public func summary() async throws -> Summary {
    try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Stops the work at once, and removes its unfinished files.
  public func cancel() { cancellation.cancel() }
}
