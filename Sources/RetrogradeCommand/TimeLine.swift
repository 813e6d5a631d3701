import Retrograde
import RetrogradeEngine

/// Draws a score as text. A score is a list of source ranges and pauses to play in order. Each
/// range or pause is one line, with the source's time from left to right.
struct TimeLine {
  private let report: SourceReport
  private static let width = 40

  init(_ report: SourceReport) { self.report = report }

  var lines: [String] {
    let length = report.order.last?.end ?? .zero
    return [
      "score      \(counted(report.order.count, "part")); the output is \(length.inSeconds) long, "
        + "the source \(report.duration.inSeconds)"
    ]
      + report.order.flatMap(lines)
  }

  private func lines(_ played: SourceReport.Played) -> [String] {
    var lines: [String] = []
    let (first, last) = (min(played.from, played.to), max(played.from, played.to))
    if played.heldBefore > .zero { lines.append(held(played.start, played.heldBefore, at: played.from)) }
    let isForward = played.from < played.to
    var words = ["\(played.from.inSeconds) to \(played.to.inSeconds)"]
    if played.speed != .natural {
      let (from, to) = (played.speed.first, played.speed.last)
      words.append(from == to ? "x\(from.plain)" : "x\(from.plain) to x\(to.plain)")
    }
    if played.audio != .mirror { words.append("audio: \(played.audio.rawValue)") }
    let mark: Character = isForward ? ">" : "<"
    lines.append(line(played.start + played.heldBefore, mark, first, last, words.joined(separator: ", ")))
    if played.heldAfter > .zero { lines.append(held(played.end - played.heldAfter, played.heldAfter, at: played.to)) }
    return lines
  }

  private func held(_ start: ClockTime, _ time: ClockTime, at place: ClockTime) -> String {
    line(start, "=", place, place, "hold \(time.inSeconds)")
  }

  private func line(
    _ start: ClockTime, _ mark: Character, _ first: ClockTime, _ last: ClockTime, _ words: String
  ) -> String {
    let from = min(column(first), TimeLine.width - 1)
    let count = max(column(last) - from, 1)
    let drawn = String(repeating: " ", count: from) + String(repeating: mark, count: count)
    return "  \(start)  |\(drawn.padded(to: TimeLine.width))|  \(words)"
  }

  private func column(_ place: ClockTime) -> Int {
    let share = report.duration > .zero ? place / report.duration : 0
    return min(max(Int((share * Double(TimeLine.width)).rounded()), 0), TimeLine.width)
  }
}
