import Retrograde

private func reverseAudio() async throws {
  let summary = try await Reverser("concert.mp4").reverse(to: "trecnoc.wav")
  print(summary.samples, "samples", summary.warnings)
}
