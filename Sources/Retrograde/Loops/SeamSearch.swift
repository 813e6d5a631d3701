import MediaTime

/// Finds, of frames that come one after the other, the two that fit best as the beginning and the end of a loop.
///
/// A pair is measured by three: as they are, and as the frames before and after them are. So the table of all distances is only needed
/// along a frame's own row and those next to it, and no more frames are kept than the longest loop has.
struct SeamSearch {
  /// The caps of the frames that are compared.
  static let form = "video/x-raw,format=GRAY8,width=48,height=28,pixel-aspect-ratio=1/1,colorimetry=1:4:0:0"

  struct Found {
    /// In the source's time.
    var span: TimeSpan
    var picture: FoundLoop.Fit
    var audio: FoundLoop.Fit?
  }

  private struct Frame {
    var pixels: [UInt8]
    var shown: TimeSpan
    /// How far the picture has moved up to this frame, in all, and from the one before it.
    var travelled: Double
    var step: Double
  }

  /// Distances from one frame to those before it, from the first that was kept on.
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

  /// A decibel counts as much as this many levels of lightness: so different sounds (15 dB) weigh as much as a visible jump does.
  private static let levelsPerDecibel = 0.3
  /// Least motion from frame to frame, on average: with less, nothing is seen to happen, so that the stretch
  /// closes well but makes no loop worth seeing.
  private static let leastMotion = 0.2
  /// Largest difference that is not seen or heard, however still the rest is, in levels and in dB.
  private static let hidden = (levels: 1.0, decibels: 3.0)
  /// Largest step that is not noticed among steps of 1.
  private static let unnoticed = 1.5

  private let lengths: ClosedRange<ClockTime>
  private let room: TimeSpan
  private let turns: Bool
  private let sound: SoundProfile?
  private var frames: [Frame] = []
  /// The number of the first frame that is kept.
  private var first = 0
  /// Rows of the last frames: the newest at the end.
  private var rows: [Row] = []
  private var best: (moving: Candidate?, still: Candidate?)

  /// - Parameters:
  ///   - room: within which the loop has to lie, in the source's time.
  ///   - turns: whether it goes back and forth, rather than round.
  init(lengths: ClosedRange<ClockTime>, within room: TimeSpan, turns: Bool, sound: SoundProfile?) {
    (self.lengths, self.room, self.turns, self.sound) = (lengths, room, turns, sound)
  }

  /// - Parameters:
  ///   - pixels: of the next frame, in ``form``.
  ///   - shown: when it is shown in the source.
  mutating func add(_ pixels: [UInt8], shown: TimeSpan) {
    let step = frames.last.map { SeamSearch.distance($0.pixels, pixels) } ?? 0
    let frame = Frame(pixels: pixels, shown: shown, travelled: (frames.last?.travelled ?? 0) + step, step: step)
    if !turns {
      rows.append(Row(first: first, distances: frames.map { SeamSearch.distance($0.pixels, pixels) }))
      if rows.count > 3 { rows.removeFirst() }
    }
    frames.append(frame)
    weigh(endingBefore: first + frames.count - 2, at: frames.count > 1 ? frames[frames.count - 2].shown.start : nil)
    // One before the longest loop is compared too.
    let count = frames.prefix { shown.start - $0.shown.start > lengths.upperBound + $0.shown.duration }.count
    if count > 1 {
      frames.removeFirst(count - 1)
      first += count - 1
    }
  }

  /// Best loop; nil where no two frames are as far apart as a loop is long.
  mutating func finish() -> Found? {
    if let last = frames.last {
      if !turns, rows.count > 2 { rows.removeFirst() }
      rows.append(Row(first: 0, distances: []))
      weigh(endingBefore: first + frames.count - 1, at: last.shown.start)
      // After the last frame there is none that the first could be like: only a loop that turns can end on it.
      if turns { weigh(endingBefore: first + frames.count, at: last.shown.end) }
    }
    return (best.moving ?? best.still).map(found)
  }

  /// Looks at all loops that end before frame `end`, at `time`.
  private mutating func weigh(endingBefore end: Int, at time: ClockTime?) {
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

  /// How far frame `a` is from frame `b`, in whose place it comes.
  private func seam(_ a: Int, _ b: Int) -> (cost: Double, residual: Double)? {
    guard rows.count > 1, let own = rows[rows.count - 2][a] else { return nil }
    let near = [rows.count > 2 ? rows[rows.count - 3][a - 1] : nil, own, rows[rows.count - 1][a + 1]].compactMap { $0 }
    return (near.reduce(0, +) / Double(near.count), own)
  }

  /// Motion of the picture about frames `a` and `b`, on which it turns.
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

  /// The mean difference of pixels.
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
