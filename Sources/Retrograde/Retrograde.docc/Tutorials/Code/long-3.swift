import Retrograde

private func reverseLong(until isStopped: @escaping @Sendable () -> Bool) async throws {
  let options = ReverseOptions(resources: Resources(memory: ByteCount(256 << 20)))
  let reversal = Reverser("film.mkv", options: options).start(to: "mlif.mkv")
  for await progress in reversal.progress {
    print(progress.stage, Int(progress.fraction * 100), "%", progress.remaining.map { "\($0) left" } ?? "")
    if isStopped() { reversal.cancel() }
  }
  do {
    let summary = try await reversal.summary()
    print("at most", ByteCount(summary.peakMemory), "held")
  } catch is CancellationError {
    print("stopped; no file was made")
  }
}
