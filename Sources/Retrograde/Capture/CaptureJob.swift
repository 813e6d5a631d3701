import GStreamer
import RetrogradeEngine

/// One recording, from the camera to the clip.
struct CaptureJob: Sendable {
  let capture: Capture
  let cancellation: Cancellation
  let control: RecordingControl
  let report: @Sendable (ReversalProgress) -> Void
  private let gauge = MemoryGauge()
  private let began = Stopwatch()

  init(
    capture: Capture, cancellation: Cancellation, control: RecordingControl,
    report: @escaping @Sendable (ReversalProgress) -> Void
  ) {
    self.capture = capture
    self.cancellation = cancellation
    self.control = control
    self.report = report
  }

  func run(to output: String) throws -> Summary {
    let options = capture.options
    let requirements = try OutputRequirements(of: output, options.encoding)
    Log.job.info("records from \(capture.source) into \(output)")
    let (camera, counts, warnings) = try Outputs.write(overwrites: options.output.overwrites, inputs: []) { outputs in
      try outputs.begin(output)
      let (source, camera) = try record(options, requirements)
      let job = try OutputJob(output, source, options, FrameDrawing(overlay: capture.overlay, title: capture.title))
      let recorded = source.warnings + lost
      // Known before any frame is encoded.
      try (recorded + job.choice.warnings).check(isStrict: options.output.isStrict, capture.source)
      let counts = try job.run(outputs, gauge: gauge, cancellation: cancellation, report: report)
      return (camera, counts, (recorded + counts.warnings).unique)
    }
    return Summary(
      output: output, frames: counts.frames, samples: counts.samples, duration: counts.duration,
      elapsed: began.elapsed, peakMemory: gauge.peak, plan: nil,
      warnings: warnings, captured: camera)
  }

  private var lost: [Warning] {
    let lost = control.lost
    guard lost > 0 else { return [] }
    return [Warning(.lost, "lost: \(lost) frames that the source counted and did not give", count: lost)]
  }

  /// Keeps what comes until there is enough.
  /// - Returns: what was kept, and the number of frames.
  private func record(_ options: ReverseOptions, _ requirements: OutputRequirements) throws -> (PlayableSource, Int) {
    let indexer = PipelineIndexer(
      name: capture.source, decoding: try description(),
      failure: { [capture] error in
        let what = error.element.map { ["pulsesrc", "alsasrc"].contains($0) } ?? false ? capture.microphone : nil
        return RetrogradeError(
          error.kind == .missingPlugin ? .missingPlugin : .noInput,
          "\(what ?? capture.source): can't be recorded from: \(error.message)"
            + "; `retrograde devices` lists what there is", underlying: error)
      }, recording: control, rate: FrameRateLimit(options.playback, requirements),
      resources: options.resources, gauge: gauge, cancellation: cancellation
    ) { _ in }
    let found = try indexer.run()
    guard let video = found.video?.source, let start = video.timeline.starts.first else {
      throw RetrogradeError(.damagedInput, "\(capture.source): no frame was recorded")
    }
    let index = SourceIndex(
      recipe: nil, video: video.video, audio: found.audio.map(\.track), tags: found.tags, warnings: found.warnings)
    // What was heard while no frame was kept is no part of it.
    let range = TimeSpan(start: start, end: video.timeline.end)
    let source = try PlayableSource(
      capture.source, index, video, playback: options.playback, count: options.playback.count, for: requirements,
      range: range)
    return (source, video.timeline.count)
  }

  /// In `gst-launch-1.0` syntax.
  private func description() throws -> String {
    let keep = "queue max-size-buffers=8 max-size-bytes=0 max-size-time=0 ! appsink name=video"
    var lines: [String]
    if capture.showsPreview {
      lines = [
        "\(capture.source) ! tee name=split", "split. ! \(keep)",
        // What the window has no time for, it does not show.
        "split. ! queue leaky=downstream max-size-buffers=1 max-size-bytes=0 max-size-time=0 ! videoconvert ! videoscale "
          + "! video/x-raw,width=[1,960],height=[1,720],pixel-aspect-ratio=1/1 ! \(try Display.sink()) name=preview sync=false",
      ]
    } else {
      lines = ["\(capture.source) ! \(keep)"]
    }
    if let microphone = capture.microphone {
      lines.append("\(microphone) ! queue max-size-time=2000000000 ! audioconvert ! appsink name=audio")
    }
    return lines.joined(separator: "\n")
  }
}
