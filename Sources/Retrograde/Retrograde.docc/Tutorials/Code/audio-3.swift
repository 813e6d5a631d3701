import Retrograde

private func reverseAudio() async throws {
  let options = ReverseOptions(
    playback: PlaybackOptions(noVideo: true), encoding: EncodingOptions(quality: .lossless))
  try await Reverser("concert.mp4", options: options).reverse(to: "trecnoc.flac")
  let verifier = Verifier("concert.mp4", mirror: "trecnoc.flac", options: options, isLossless: true)
  let verification = try await verifier.verify()
  print(verification.isMirror)
}
