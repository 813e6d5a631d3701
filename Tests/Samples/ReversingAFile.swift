import Retrograde

func reverseAFile() async throws {
  let summary = try await Reverser("holiday.mp4").reverse(to: "yadiloh.mp4")
  print(summary.frames, "frames,", summary.duration)
  for warning in summary.warnings { print("warning:", warning) }
}

func reverseInOneLine() async throws {
  try await Reverser("holiday.mp4").reverse(to: "yadiloh.mp4")
}

func reverseAPart() async throws {
  let options = ReverseOptions(
    playback: PlaybackOptions(start: .time(.seconds(62.5)), end: .frame(2_000)),
    encoding: EncodingOptions(quality: .lossless),
    output: OutputOptions(overwrites: true),
    resources: Resources(memory: ByteCount(128 << 20)))
  try await Reverser("talk.mp4", options: options).reverse(to: "klat.mkv")
}

func planAReversal() async throws {
  let report = try await Reverser("holiday.mp4").plan()
  for stream in report.streams { print(stream.kind, stream.codec, stream.summary) }
  print(ByteCount(report.memoryBytes), "of memory")
}

func singleFrames() async throws {
  try await FrameGrab("holiday.mp4", at: [3.2, .frame(250), .end]).write(to: "frame-%02d.png")
}

func verify() async throws {
  let verification = try await Verifier("holiday.mp4", mirror: "yadiloh.mp4").verify()
  print(verification.isMirror ? "the exact mirror" : verification.difference ?? "")
}

func reverseSamples(_ samples: inout [Int16], channels: Int) {
  samples.withUnsafeMutableBytes { SampleFrames.reverse($0, bytesPerFrame: channels * 2) }
}
