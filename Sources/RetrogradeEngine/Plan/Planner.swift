/// Makes plans. Pure arithmetic: index and budget in, plan out.
package struct Planner: Sendable {
  /// The most bytes of decoded media to hold at once.
  package var budget: Int
  /// The size of one decoded frame in bytes.
  package var frameBytes: Int
  /// Bytes that the spool has room for.
  package var spoolRoom: Int
  /// Whether the first window, which holds the last frames, is to be there as soon as can be: then it is one group of pictures.
  package var isWatched = false

  package init(budget: Int, frameBytes: Int, spoolRoom: Int) {
    self.budget = budget
    self.frameBytes = max(1, frameBytes)
    self.spoolRoom = max(0, spoolRoom)
  }

  /// How many frames one window may hold. The budget serves two windows: one being encoded, and the next being
  /// decoded meanwhile.
  package var framesPerWindow: Int { budget / 2 / frameBytes }

  /// How many frames a window may hold that is made of several groups. More are no gain: the encoder waits for the first window,
  /// the decoder has nothing to do during the last, and memory that is used again at once needs no new pages.
  package var framesPerMerger: Int { min(framesPerWindow, max(1, Planner.mergedBytes / frameBytes)) }

  private static let mergedBytes = 64 << 20

  /// How many frames may be held where nothing else is.
  package var framesInAll: Int { budget / frameBytes }

  /// Smallest budget by which frames of this size can be reversed.
  package var smallestBudget: Int { 2 * frameBytes }

  /// A plan for windows of whole groups of pictures. Small groups are merged. If a group does not fit beside
  /// its neighbours, its first frames go to the spool, which costs a copy each; where the spool has no room
  /// for them, the group is split, and each part costs a decode from the keyframe.
  ///
  /// - Parameters:
  ///   - frames: the frames wanted, in display order.
  ///   - keyframes: the keyframes' places in display order, ascending. The frames before the first one are
  ///     taken to depend on it (or on earlier frames of the source).
  /// - Returns: nil if not even two frames fit the budget.
  package func plan(frames: Range<Int>, keyframes: [Int]) -> Plan? {
    guard framesPerWindow >= 1 else { return nil }
    var windows: [Window] = []
    let groups = groups(in: frames, keyframes: keyframes)
    if groups.count == 1, frames.count <= framesInAll {
      let window = Window(frames: frames, keyframe: groups[0].keyframe, spooled: 0)
      return Plan(method: .windows, windows: [window], budget: budget, frameBytes: frameBytes)
    }
    for (number, group) in groups.enumerated() {
      let isAlone = isWatched && number == groups.count - 1
      if !isAlone, let last = windows.last, last.spooled == 0, last.frames.upperBound == group.frames.lowerBound,
        last.keyframe <= group.keyframe, last.frames.count + group.frames.count <= framesPerMerger
      {
        windows[windows.count - 1].frames = last.frames.lowerBound..<group.frames.upperBound
      } else {
        windows += windowsOf(group)
      }
    }
    fill(&windows)
    return Plan(method: .windows, windows: windows.reversed(), budget: budget, frameBytes: frameBytes)
  }

  /// Gives windows that need the spool the part of the budget that their neighbours leave.
  private func fill(_ windows: inout [Window]) {
    for place in windows.indices where windows[place].spooled > 0 {
      let neighbours = [place - 1, place + 1].filter(windows.indices.contains).map { windows[$0].held }
      let count = windows[place].frames.count
      windows[place].spooled = count - min(count, framesInAll - (neighbours.max() ?? 0))
    }
  }

  /// A plan for a source that is decoded once, forwards: one window, of which memory holds the last frames.
  /// - Returns: nil if not even two frames fit the budget.
  package func forwardPlan(frames: Range<Int>) -> Plan? {
    guard framesPerWindow >= 1 else { return nil }
    let window = Window(frames: frames, keyframe: 0, spooled: max(0, frames.count - framesInAll))
    return Plan(
      method: .forward, windows: frames.isEmpty ? [] : [window], budget: budget, frameBytes: frameBytes)
  }

  private struct Group {
    var frames: Range<Int>
    var keyframe: Int
  }

  private func groups(in frames: Range<Int>, keyframes: [Int]) -> [Group] {
    guard !frames.isEmpty else { return [] }
    let starts = keyframes.filter { $0 > frames.lowerBound && $0 < frames.upperBound }
    let first = keyframes.last { $0 <= frames.lowerBound } ?? frames.lowerBound
    let bounds = [frames.lowerBound] + starts + [frames.upperBound]
    return zip(bounds, bounds.dropFirst()).enumerated().map { index, bound in
      Group(frames: bound.0..<bound.1, keyframe: index == 0 ? first : bound.0)
    }
  }

  private func windowsOf(_ group: Group) -> [Window] {
    let excess = group.frames.count - framesPerWindow
    if excess <= 0 { return [Window(frames: group.frames, keyframe: group.keyframe, spooled: 0)] }
    // Two windows' worth: the spool of one is being read while that of the next is being written.
    if spoolRoom / frameBytes / 2 >= excess {
      return [Window(frames: group.frames, keyframe: group.keyframe, spooled: excess)]
    }
    return stride(from: group.frames.lowerBound, to: group.frames.upperBound, by: framesPerWindow).map { start in
      Window(
        frames: start..<min(start + framesPerWindow, group.frames.upperBound), keyframe: group.keyframe, spooled: 0)
    }
  }
}
