import GStreamer
import Retrograde

/// Progress of a run, as one terminal line. Less important facts are omitted if there is no room.
struct ProgressLine {
  /// Facts from left to right, with their ranks: the fact with the highest rank is omitted first.
  private var facts: [(text: String, rank: Int)]
  /// Filled fraction of the bar, 0 to 1; nil if the end is unknown.
  private var share: Double?

  init(_ progress: ReversalProgress) {
    let stage: String? =
      switch progress.stage {
      case .countdown, .capturing, .reversing: nil
      default: progress.stage.rawValue
      }
    let percent = "\(Int(progress.fraction * 100))%"
    let memory = progress.memoryHeld > 0 ? "\(ByteCount(progress.memoryHeld))" : nil
    let left = progress.remaining.map { "\($0.inWords) left" }
    switch progress.stage {
    case .countdown:
      self.init([("\(Int((progress.duration - progress.position).seconds.rounded(.up)))…", 0)], nil)
    case .capturing:
      let length = progress.duration > .zero ? " / \(progress.duration)" : ""
      let isOpenEnded = progress.duration == .zero && progress.total == 0
      self.init(
        [
          ("recording", 0), ("\(progress.position)\(length)", 1), ("\(progress.done) frames", 3), (memory, 4),
          (isOpenEnded ? "Ctrl-C ends it" : nil, 2),
        ], nil)
    default:
      let isReversing = progress.stage == .reversing
      let isFetching = progress.stage == .fetching
      let bytes = "\(ByteCount(progress.done))" + (progress.total > 0 ? " of \(ByteCount(progress.total))" : "")
      self.init(
        [
          (percent, 0), (stage, 1), (isFetching ? bytes : nil, 3),
          (isReversing ? "\(progress.rate.rounded(to: 1)) fps" : nil, 3),
          (isReversing ? "\(progress.speed.rounded(to: 1))x" : nil, 4), (left, 2), (memory, 5),
        ], progress.fraction)
    }
  }

  /// Creates a line for the total progress of several runs.
  init(_ words: String, share: Double, remaining: ClockTime?) {
    self.init(
      [("\(Int(share * 100))%", 0), (words, 1), (remaining.map { "\($0.inWords) left" }, 2)], share)
  }

  private init(_ facts: [(String?, Int)], _ share: Double?) {
    self.facts = facts.compactMap { fact, rank in fact.map { ($0, rank) } }
    self.share = share
  }

  /// Formats the line, at most `width` columns wide.
  /// - Parameter name: file name at the start of the line, padded or shortened to `nameWidth`
  ///   columns.
  func text(_ name: String = "", nameWidth: Int = 0, width: Int) -> String {
    let label = nameWidth > 0 ? name.fitted(to: nameWidth).filled(to: nameWidth) + "  " : ""
    let room = width - label.columns
    var kept = facts
    func columns() -> Int { kept.reduce(0) { $0 + $1.text.columns } + max(kept.count - 1, 0) * 2 }
    while kept.count > 1, let least = kept.indices.max(by: { kept[$0].rank < kept[$1].rank }) {
      // To make room for the bar, omit facts of rank 3 and higher, but no others.
      let bar = share != nil && kept[least].rank > 2 ? ProgressLine.shortestBar + 3 : 0
      guard columns() + bar > room else { break }
      kept.remove(at: least)
    }
    let words = kept.map(\.text).joined(separator: "  ")
    let bar = min(ProgressLine.longestBar, room - columns() - 3)
    guard let share, bar >= ProgressLine.shortestBar else { return label + words.fitted(to: max(room, 0)) }
    let full = Int(Double(bar) * share)
    return label + "[" + String(repeating: "=", count: full) + String(repeating: " ", count: bar - full) + "] " + words
  }

  private static let longestBar = 30
  private static let shortestBar = 8
}

extension ClockTime {
  /// Duration in words with a useful precision: `75 s`, `12 min`, `3 h 20 min`.
  var inWords: String {
    let seconds = Int(self.seconds.rounded(.up))
    if seconds < 100 { return "\(seconds) s" }
    let minutes = (seconds + 30) / 60
    return minutes < 100 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
  }
}

extension String {
  /// Returns the text, with `…` instead of its middle if the text is wider than `width` columns.
  func fitted(to width: Int) -> String {
    guard columns > width else { return self }
    guard width > 1 else { return String(repeating: "…", count: max(width, 0)) }
    var rest = self[...]
    var (left, right) = ("", "")
    var isLeft = true
    while let next = isLeft ? rest.first : rest.last, left.columns + right.columns + next.columns < width {
      if isLeft { left.append(rest.removeFirst()) } else { right.insert(rest.removeLast(), at: right.startIndex) }
      isLeft.toggle()
    }
    return "\(left)…\(right)"
  }

  /// Pads the text with spaces to `width` columns.
  fileprivate func filled(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }
}
