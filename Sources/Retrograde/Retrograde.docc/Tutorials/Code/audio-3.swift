import Retrograde

private func reverseAudio() async throws {
  let options = ReverseOptions(
    playback: PlaybackOptions(noVideo: true), encoding: EncodingOptions(quality: .lossless))
  try await Reverser("concert.mp4", options: options).reverse(to: "trecnoc.flac")
  var verifier = Verifier("concert.mp4", mirror: "trecnoc.flac", options: options)
  verifier.isLossless = true
  let verification = try await verifier.verify()
  print(verification.isMirror)
}
