import GStreamer
import MediaTime
import RetrogradeEngine

extension LoopFinder {
  /// Finds the loop and begins to write it to `output`. The result reports the progress, and the
  /// loop that was found (``Summary/loop``).
  /// - Parameter picture: path for a PNG of the frames before and after the seam; nil: no PNG is
  ///   written.
  public func start(to output: String, seam: LoopSeam = .cut, showing picture: String? = nil) -> Reversal {
    Reversal { work in
      try checkInput()
      // Check the outputs now, because the search takes long.
      try Reverser(input, options: options).checkOutput(output, besides: [])
      if let picture {
        try SeamPicture.check(picture, overwrites: options.output.overwrites, input: input)
      }
      work.scale.expect(
        [ExpectedStep(.indexing, 1), ExpectedStep(.searching, 4), ExpectedStep(.reversing, 6)])
      var found = try run(seam, work)
      if case .blend(let length) = seam { found.blend = length }
      if let picture { try SeamPicture(input: input, found: found, options: options).write(to: picture, work.apart) }
      var summary = try reverser(of: found, seam: seam).run(to: output, work)
      summary.loop = found
      return summary
    }
  }

  /// Checks that the source can be read twice: for the search, then for writing.
  private func checkInput() throws {
    guard Source.isReopenable(input) else {
      throw RetrogradeError(
        .usage, about: input, "a pipe can be read only once, but finding a loop reads the source twice",
        remedy: "save the video to a file first")
    }
  }

  func run(_ seam: LoopSeam, _ work: Work) throws -> FoundLoop {
    let loop = options.playback.loop
    try checkOptions()
    var played = options
    (played.playback.loop, played.playback.count) = (.forward, 1)
    let source = try PlayableSource.open([input], played, work)
    guard let video = source.video else {
      throw RetrogradeError(
        .usage, about: input, "contains no video in which to find a loop", remedy: "give a video file")
    }
    let (origin, span) = (source.index.presentationStart, source.legs.presentation.span)
    let lengths = self.lengths ?? LoopFinder.lengths(in: span.duration)
    let room = try room(for: seam, in: span, lengths)
    let sound =
      try loop.turns ? nil : source.audio.first.map { try Spectrogram($0, source.audioLegs, work.cancellation) }
    var search = SeamSearch(lengths: lengths, within: room, turns: loop.turns, sound: sound)
    try look(at: video, source.legs, work) { search.add($0, shown: $1) }
    guard let found = search.finish() else {
      throw RetrogradeError(
        .usage, about: input,
        "no loop of \(lengths.lowerBound.seconds.plain) to \(lengths.upperBound.seconds.plain) s was found in the "
          + "\(span.duration.seconds.plain) s that were searched",
        remedy: "search for a shorter loop")
    }
    return FoundLoop(
      span: TimeSpan(start: found.span.start - origin, end: found.span.end - origin), loop: loop,
      picture: found.picture, audio: found.audio)
  }

  /// Decodes the source forwards, and passes the pixels of each frame to `body` in the format
  /// ``SeamSearch/form``, with the frame's time in the source.
  private func look(
    at video: VideoSource, _ legs: PlaybackLegs, _ work: Work, _ body: ([UInt8], TimeSpan) -> Void
  ) throws {
    let player = VideoPlayer(video, legs, timing: .mirror, work.cancellation)
    var converter: FrameConverter?
    let watch = Stopwatch()
    while let frame = try player.next() {
      do {
        let known =
          try converter ?? FrameConverter(frame.caps, orientation: nil, to: SeamSearch.form, work.cancellation)
        converter = known
        body(try known.convert(frame.buffer, frame.caps).withBytes(Array.init), frame.source)
      } catch let error as GStreamerError {
        throw RetrogradeError.reading(input, error)
      }
      work.report(.searching, position: frame.shown.end, duration: legs.duration ?? .zero, since: watch)
    }
  }

  /// Returns the range of loop lengths: ``usualLengths``, but for short sources the minimum is a
  /// third of the source's length.
  private static func lengths(in duration: ClockTime) -> ClosedRange<ClockTime> {
    min(usualLengths.lowerBound, duration / 3)...usualLengths.upperBound
  }

  private func checkOptions() throws {
    guard options.playback.score == nil else {
      throw RetrogradeError(
        .usage, "\(setting: .score) can't be used here: the search for a loop chooses which part of the source to play",
        remedy: "leave out \(setting: .score)")
    }
    guard lengths?.lowerBound != .zero else {
      throw RetrogradeError(.usage, "the length of a loop must be above 0", remedy: "use 2..6 seconds, for example")
    }
  }

  /// Returns the range of the source that the loop may use. For a blend, the range is shorter: the
  /// frames that follow the loop's last frame, in the order of play, must exist to fade out.
  private func room(for seam: LoopSeam, in span: TimeSpan, _ lengths: ClosedRange<ClockTime>) throws -> TimeSpan {
    guard case .blend(let length) = seam else { return span }
    guard !options.playback.loop.turns else {
      throw RetrogradeError(
        .usage, "ping-pong and reverse-forward loops have no jump that a blend could hide",
        remedy: "leave out the blend, or use \(setting: .loop) \(Loop.forward.rawValue)")
    }
    guard length > .zero, length + length <= lengths.lowerBound else {
      throw RetrogradeError(
        .usage,
        "a blend of \(length) is not possible: it must be above 0, and at most half of the minimum length of the loop, "
          + "which is \(lengths.lowerBound)",
        remedy: "use another length of the blend, or longer loops")
    }
    return options.playback.loop == .forward
      ? TimeSpan(start: span.start, end: span.end - length) : TimeSpan(start: span.start + length, end: span.end)
  }
}

extension Loop {
  /// True if the loop goes back and forth.
  package var turns: Bool { self == .pingPong || self == .reverseForward }
}
