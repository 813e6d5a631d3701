import Retrograde

private func reverseAudio() async throws {
  let playback = PlaybackOptions(streams: StreamSelection(parsing: "audio:1"))
  let summary = try await Reverser("concert.mp4", options: ReverseOptions(playback: playback)).reverse(
    to: "trecnoc.wav")
  print(summary.samples, "samples")
}
