import Retrograde

func makeAGIF() async throws {
  let options = ReverseOptions(
    playback: PlaybackOptions(loop: .pingPong, frameRate: 15), encoding: EncodingOptions(width: 480))
  try await Reverser("jump.mp4", options: options).reverse(to: "loop.gif")
}

func useNumberedImages() async throws {
  let options = ReverseOptions(playback: PlaybackOptions(sequenceRate: 24))
  try await Reverser("frames/%05d.png", options: options).reverse(to: "movie.mp4")
  try await Reverser("movie.mp4").reverse(to: "again/%05d.png")
}

func makeAStory() async throws {
  let story = Framing(crop: .shape(width: 9, height: 16), scale: .pad(width: 1080, height: 1920))
  let options = ReverseOptions(encoding: EncodingOptions(framing: story))
  try await Reverser("jump.mp4", options: options).reverse(to: "story.mp4")
}
