import Retrograde

func followProgress() async throws {
  let reversal = Reverser("holiday.mp4").start(to: "yadiloh.mp4")
  for await progress in reversal.progress {
    let left = progress.remaining.map { "\($0) left" } ?? ""
    print("\(progress.stage) \(Int(progress.fraction * 100)) %", left)
  }
  let summary = try await reversal.summary()
  print(summary.frames)
}

func followProgressBriefly() async throws {
  let reversal = Reverser("holiday.mp4").start(to: "yadiloh.mp4")
  for await progress in reversal.progress { print(progress.fraction) }
  let summary = try await reversal.summary()
  print(summary.frames)
}

func cancel() async throws {
  let task = Task { try await Reverser("holiday.mp4").reverse(to: "yadiloh.mp4") }
  task.cancel()
  do {
    _ = try await task.value
  } catch is CancellationError {
    print("cancelled; no file was made")
  }
}
