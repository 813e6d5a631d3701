import GStreamer
import RetrogradeEngine

extension Capture {
  /// Records from the source, and writes the clip.
  func run(to output: String, _ control: RecordingControl, _ work: Work) throws -> Summary {
    let requirements = try OutputRequirements(of: output, options.encoding)
    // Check before recording, because an error afterwards would lose the recording.
    try options.output.place?.check(Container.fileName(output, format: options.encoding.format))
    Log.job.info("records from \(source) into \(output)")
    let (camera, counts, warnings) = try Outputs.write(
      overwrites: options.output.overwrites, inputs: [], pipe: (options.resources, work.cancellation)
    ) { outputs in
      try outputs.begin(output)
      let length = duration?.seconds ?? 10
      work.scale.expect([
        ExpectedStep(.countdown, countdown.seconds), ExpectedStep(.capturing, length),
        ExpectedStep(.reversing, length / 2), ExpectedStep(.finishing, length / 20),
      ])
      let (recording, camera) = try record(control, requirements, work)
      var asked = self.options
      asked.output.place?.longest = nil
      let plan = try OutputPlan(
        output, recording, asked, FrameDrawing(lettering: options.lettering, overlay: overlay, title: title))
      let recorded = recording.warnings + missed(control)
      let tooLong = options.output.place?.warning(recording.legs.duration)
      // If warnings are errors, fail before any frame is encoded.
      try (recorded + plan.choice.warnings).check(isStrict: options.output.isStrict, source)
      work.scale.expect(plan.steps)
      let counts = try plan.write(outputs, work)
      return (
        camera, counts, (recorded + counts.warnings + counts.qualityReductions + [tooLong].compactMap { $0 }).unique
      )
    }
    return Summary(
      output: output, frames: counts.frames, samples: counts.samples, duration: counts.duration,
      elapsed: work.elapsed, peakMemory: work.gauge.peak, plan: nil,
      warnings: warnings,
      written: WrittenMedia(container: WrittenMedia.containerName(of: output), streams: counts.streams),
      captured: camera)
  }

  private func missed(_ control: RecordingControl) -> [Warning] {
    let lost = control.lost
    guard lost > 0 else { return [] }
    return [
      Warning(.lost, "lost: the source dropped \(counted(lost, "frame")) during the recording", count: lost)
    ]
  }

  /// Records until `control` ends the recording.
  /// - Returns: the recording, and the number of recorded frames.
  private func record(
    _ control: RecordingControl, _ requirements: OutputRequirements, _ work: Work
  ) throws -> (PlayableSource, Int) {
    let indexer = PipelineIndexer(
      name: source, decoding: try description(),
      failure: { error in
        let what = error.element.map { ["pulsesrc", "alsasrc"].contains($0) } ?? false ? microphone : nil
        return RetrogradeError(
          error.kind == .missingPlugin ? .missingPlugin : .noInput,
          about: what ?? source, "recording failed: \(error.message)",
          remedy: "`retrograde devices` lists the devices", underlying: error)
      }, recording: control, rate: FrameRateLimit(options.playback, requirements),
      resources: options.resources, gauge: work.gauge, cancellation: work.cancellation
    ) { _ in }
    let found = try indexer.run()
    guard let video = found.video?.source, let start = video.timeline.starts.first else {
      throw RetrogradeError(.damagedInput, about: source, "no frame was recorded")
    }
    let index = SourceIndex(
      recipe: nil, video: video.video, audio: found.audio.map(\.track), tags: found.tags, warnings: found.warnings)
    // Leave out audio before the first recorded frame, such as the audio of the countdown.
    let range = TimeSpan(start: start, end: video.timeline.end)
    let recording = try PlayableSource(
      source, index, video, playback: options.playback, count: options.playback.count, for: requirements,
      range: range)
    return (recording, video.timeline.count)
  }

  /// Returns the recording pipeline in `gst-launch-1.0` syntax.
  private func description() throws -> String {
    let keep = "queue max-size-buffers=8 max-size-bytes=0 max-size-time=0 ! appsink name=video"
    var lines: [String]
    if showsPreview {
      lines = [
        "\(source) ! tee name=split", "split. ! \(keep)",
        // Let the preview drop frames, so that a slow display never slows down the recording.
        "split. ! queue leaky=downstream max-size-buffers=1 max-size-bytes=0 max-size-time=0 ! videoconvert ! videoscale "
          + "! video/x-raw,width=[1,960],height=[1,720],pixel-aspect-ratio=1/1 ! \(try Display.sink()) name=preview sync=false",
      ]
    } else {
      lines = ["\(source) ! \(keep)"]
    }
    if let microphone = microphone {
      lines.append("\(microphone) ! queue max-size-time=2000000000 ! audioconvert ! appsink name=audio")
    }
    return lines.joined(separator: "\n")
  }
}
