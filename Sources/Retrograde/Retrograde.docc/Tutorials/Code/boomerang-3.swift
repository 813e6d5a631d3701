import Retrograde

private func record(_ camera: Device) async throws {
  var capture = Capture(camera, size: (width: 1280, height: 720), frameRate: 30)
  capture.countdown = .seconds(3)
  capture.duration = .seconds(3)
  capture.showsPreview = true
  capture.options.playback.loop = .pingPong
  let session = capture.start(to: "boomerang.mp4")
  for await progress in session.reversal.progress {
    switch progress.stage {
    case .countdown: print("in", progress.duration - progress.position)
    case .capturing: print("recording", progress.position)
    default: print("writing", Int(progress.fraction * 100), "%")
    }
  }
  let summary = try await session.reversal.summary()
  print(summary.captured ?? 0, "frames recorded,", summary.frames, "written")
}
