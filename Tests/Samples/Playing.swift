import Retrograde
import RetrogradePlayer

func play() async throws {
  let player = Player("holiday.mp4", playback: PlaybackOptions(loop: .pingPong), isEndless: true)
  try await player.run { event in
    switch event {
    case .key("q"): player.stop()
    case .key("space"): player.togglePause()
    case .key("Right"): player.seek(by: .seconds(5))
    case .position(let time, let end, _): print(time, end.map { "of \($0)" } ?? "")
    default: break
    }
  }
}

func playElsewhere() async throws {
  let player = Player(
    "holiday.mp4", videoSink: "videoconvert ! kmssink", audioSink: "fakesink sync=true")
  try await player.run()
}
