import Retrograde

private func record(_ camera: Device) async throws {
  var capture = Capture(camera, size: (width: 1280, height: 720), frameRate: 30)
  capture.countdown = .seconds(3)
  capture.duration = .seconds(3)
  capture.showsPreview = true
  capture.options.playback.loop = .pingPong
  let session = capture.start(to: "boomerang.mp4")
  _ = try await session.reversal.summary()
}
