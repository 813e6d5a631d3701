import RetrogradeEngine

extension ChunkedReversal {
  /// Returns the state of each chunk, and the estimated remaining time.
  func status() throws -> ChunkStatus {
    let plan = try folder.knownPlan()
    var states = ChunkStates(plan)
    try states.update(from: folder.journal)
    let chunks = try plan.chunks.enumerated().map { number, chunk in
      let last = states.last[number]
      let done = states.done[number]
      var state = ChunkStatus.Chunk.State.waiting
      if done != nil {
        state = .done
      } else if last?.event == .failed {
        state = .failed
      } else if last?.event == .begun, try folder.locks.isTaken(number) {
        // The kernel releases the locks of a dead process, so a locked chunk is really being made.
        state = .running
      }
      let shown = state == .waiting ? nil : done ?? last
      return ChunkStatus.Chunk(
        number: number, kind: chunk.kind, start: chunk.span.start.seconds, end: chunk.span.end.seconds,
        frames: chunk.frames, state: state, host: shown?.host, process: shown.map { Int($0.process) },
        since: shown?.time, seconds: done?.seconds, bytes: done?.file?.bytes,
        reason: state == .failed ? last?.reason : nil)
    }
    return ChunkStatus(
      output: plan.output, source: plan.source.path, chunks: chunks, remaining: remaining(chunks))
  }

  private func remaining(_ chunks: [ChunkStatus.Chunk]) -> Double? {
    let done = chunks.filter { $0.state == .done && $0.frames > 0 }
    let (frames, seconds) = (
      done.reduce(0) { $0 + $1.frames }, done.reduce(0.0) { $0 + ($1.seconds ?? 0) }
    )
    guard frames > 0, seconds > 0 else { return nil }
    let left = chunks.filter { $0.state != .done }.reduce(0) { $0 + $1.frames }
    let running = max(chunks.count { $0.state == .running }, 1)
    return Double(left) * seconds / Double(frames) / Double(running)
  }
}
