import Retrograde

func recordFromACamera() async throws {
  guard let camera = try Device.all().first(where: { $0.kind == .video }) else { return }
  var capture = Capture(camera, frameRate: 30)
  capture.duration = .seconds(3)
  capture.showsPreview = true
  capture.options.playback.loop = .pingPong
  let session = capture.start(to: "boomerang.mp4")
  for await progress in session.reversal.progress { print(progress.stage, progress.fraction) }
  let summary = try await session.reversal.summary()
  print(summary.frames)
}

func recordAnything() async throws {
  var capture = Capture(source: "videotestsrc is-live=true ! video/x-raw,width=640,height=360")
  capture.microphone = "audiotestsrc is-live=true"
  capture.frames = 90
  let session = capture.start(to: "pattern.mkv")
  let summary = try await session.reversal.summary()
  print(summary.frames)
}
