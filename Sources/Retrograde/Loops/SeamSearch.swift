import MediaTime

/// Finds the two frames of a sequence that match best as the beginning and the end of a loop.
///
/// A ``Candidate`` is a pair of frames. If the loop is played in one direction, the cost of a
/// candidate is the mean pixel difference of three pairs: the candidate's frames, the frames before
/// them, and the frames after them. Different audio at both frames increases the cost. If the loop
/// goes back and forth, the cost is the motion at both frames.
///
/// The latest three ``Row``s suffice to compute the costs, and only the frames of the longest
/// allowed loop stay in memory.
struct SeamSearch {
  /// Caps of the compared frames.
  static let form = "video/x-raw,format=GRAY8,width=48,height=28,pixel-aspect-ratio=1/1,colorimetry=1:4:0:0"

  struct Found {
    /// Start and end of the loop in the source.
    var span: TimeSpan
    var picture: FoundLoop.Fit
    var audio: FoundLoop.Fit?
  }

  private struct Frame {
    var pixels: [UInt8]
    var shown: TimeSpan
    /// Sum of `step` over all frames up to this one.
    var travelled: Double
    /// Motion from the previous frame to this one, as mean difference of pixels in 8-bit levels.
    var step: Double
  }

  /// Distances (mean pixel differences) from one frame to the earlier frames in memory; `first` is
  /// the number of the earliest of these frames.
  private struct Row {
    var first: Int
    var distances: [Double]
    subscript(number: Int) -> Double? {
      distances.indices.contains(number - first) ? distances[number - first] : nil
    }
  }

  private struct Candidate {
    var cost: Double
    var span: TimeSpan
    var residual: Double
    var usual: Double
  }

  /// Weight of audio in the cost of a loop, in 8-bit lightness levels per decibel. A difference of
  /// 15 dB (unrelated audio) thus costs 4.5 levels, as much as a visible jump.
  private static let levelsPerDecibel = 0.3
  /// Average motion between frames, in 8-bit levels, below which a loop counts as still. Still
  /// scenes match well, but make dull loops, so a still loop is used only if there is no other
  /// loop.
  private static let leastMotion = 0.2
  /// Largest differences at a seam that are imperceptible even in still or quiet scenes, in 8-bit
  /// levels and in dB.
  private static let hidden = (levels: 1.0, decibels: 3.0)
  /// Largest unnoticeable difference at a seam, as a multiple of the usual difference between
  /// neighbouring frames or intervals of audio.
  private static let unnoticed = 1.5

  private let lengths: ClosedRange<ClockTime>
  private let room: TimeSpan
  private let turns: Bool
  private let sound: Spectrogram?
  private var frames: [Frame] = []
  /// Number of the first frame in `frames`.
  private var first = 0
  /// Rows of the last three frames, the newest at the end.
  private var rows: [Row] = []
  private var best: (moving: Candidate?, still: Candidate?)

  /// - Parameters:
  ///   - room: range of the source that the loop may use.
  ///   - turns: true if the loop goes back and forth.
  init(lengths: ClosedRange<ClockTime>, within room: TimeSpan, turns: Bool, sound: Spectrogram?) {
    (self.lengths, self.room, self.turns, self.sound) = (lengths, room, turns, sound)
  }

  /// Adds the next frame.
  /// - Parameters:
  ///   - pixels: pixels of the frame, in ``form``.
  ///   - shown: start and end of the frame in the source.
  mutating func add(_ pixels: [UInt8], shown: TimeSpan) {
    let step = frames.last.map { SeamSearch.distance($0.pixels, pixels) } ?? 0
    let frame = Frame(pixels: pixels, shown: shown, travelled: (frames.last?.travelled ?? 0) + step, step: step)
    if !turns {
      rows.append(Row(first: first, distances: frames.map { SeamSearch.distance($0.pixels, pixels) }))
      if rows.count > 3 { rows.removeFirst() }
    }
    frames.append(frame)
    evaluateLoops(
      endingBefore: first + frames.count - 2, at: frames.count > 1 ? frames[frames.count - 2].shown.start : nil)
    // Keep one frame more than the longest loop needs, because the frame before a loop's start is
    // compared too.
    let count = frames.prefix { shown.start - $0.shown.start > lengths.upperBound + $0.shown.duration }.count
    if count > 1 {
      frames.removeFirst(count - 1)
      first += count - 1
    }
  }

  /// Returns the best loop; nil if no loop has an allowed length.
  mutating func finish() -> Found? {
    if let last = frames.last {
      if !turns, rows.count > 2 { rows.removeFirst() }
      rows.append(Row(first: 0, distances: []))
      evaluateLoops(endingBefore: first + frames.count - 1, at: last.shown.start)
      // Only a loop that goes back and forth can end with the last frame, because for other loops,
      // the frame after the end is compared too.
      if turns { evaluateLoops(endingBefore: first + frames.count, at: last.shown.end) }
    }
    return (best.moving ?? best.still).map(found)
  }

  /// Evaluates all loops whose last frame is frame `end - 1`. `time` is the end of frame `end - 1`.
  private mutating func evaluateLoops(endingBefore end: Int, at time: ClockTime?) {
    guard let time, time <= room.end, end > first else { return }
    for number in first..<end {
      let frame = frames[number - first]
      let length = time - frame.shown.start
      if length < lengths.lowerBound { break }
      guard length <= lengths.upperBound, frame.shown.start >= room.start,
        let distance = turns ? turn(number, end - 1) : seam(number, end)
      else { continue }
      let last = frames[end - 1 - first]
      let usual = (last.travelled - frame.travelled) / Double(max(end - 1 - number, 1))
      let isStill = usual < SeamSearch.leastMotion
      let rival = isStill ? best.still : best.moving
      guard distance.cost < rival?.cost ?? .infinity else { continue }
      let cost =
        distance.cost + (sound.map { $0.distance(frame.shown.start, time) * SeamSearch.levelsPerDecibel } ?? 0)
      guard cost < rival?.cost ?? .infinity else { continue }
      let candidate = Candidate(
        cost: cost, span: TimeSpan(start: frame.shown.start, end: time), residual: distance.residual, usual: usual)
      if isStill { best.still = candidate } else { best.moving = candidate }
    }
  }

  /// Returns the cost of a seam at which frame `a` is played in place of frame `b`, and the
  /// difference of the two frames; nil if the two frames were not compared.
  private func seam(_ a: Int, _ b: Int) -> (cost: Double, residual: Double)? {
    guard rows.count > 1, let own = rows[rows.count - 2][a] else { return nil }
    let near = [rows.count > 2 ? rows[rows.count - 3][a - 1] : nil, own, rows[rows.count - 1][a + 1]].compactMap { $0 }
    return (near.reduce(0, +) / Double(near.count), own)
  }

  /// Returns the cost of a loop that goes back and forth between frames `a` and `b`: the mean
  /// motion at both frames. nil if frame `b` was not added yet.
  private func turn(_ a: Int, _ b: Int) -> (cost: Double, residual: Double)? {
    guard b - first < frames.count else { return nil }
    func motion(_ number: Int) -> Double {
      let steps = [number, number + 1].compactMap { step -> Double? in
        step > 0 && step - first < frames.count ? frames[step - first].step : nil
      }
      return steps.isEmpty ? 0 : steps.reduce(0, +) / Double(steps.count)
    }
    let mean = (motion(a) + motion(b)) / 2
    return (mean, mean)
  }

  private func found(_ candidate: Candidate) -> Found {
    func fit(_ residual: Double, _ usual: Double, _ hidden: Double) -> FoundLoop.Fit {
      FoundLoop.Fit(residual: residual, usual: usual, limit: max(usual * SeamSearch.unnoticed, hidden))
    }
    let span = candidate.span
    return Found(
      span: span, picture: fit(candidate.residual, candidate.usual, SeamSearch.hidden.levels),
      audio: sound.map {
        fit($0.distance(span.start, span.end), $0.usual(span), SeamSearch.hidden.decibels)
      })
  }

  /// Returns the mean absolute difference of pixels, in 8-bit levels.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Double {
    let count = min(a.count, b.count)
    guard count > 0 else { return 0 }
    let sum = a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in
        (0..<count).reduce(Int32(0)) { $0 &+ Int32(abs(Int16(a[$1]) &- Int16(b[$1]))) }
      }
    }
    return Double(sum) / Double(count)
  }
}
