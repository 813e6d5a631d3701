/// Computes plans from an index and a budget. Pure arithmetic, without input or output.
package struct Planner: Sendable {
  /// Largest number of bytes of decoded media in memory at once.
  package var budget: Int
  /// The size of one decoded frame in bytes.
  package var frameBytes: Int
  /// Number of bytes that the spool has room for.
  package var spoolRoom: Int
  /// True if a user waits for the last frames, which are output first. The window with these frames
  /// is then a single group of pictures.
  package var isWatched = false

  package init(budget: Int, frameBytes: Int, spoolRoom: Int) {
    self.budget = budget
    self.frameBytes = max(1, frameBytes)
    self.spoolRoom = max(0, spoolRoom)
  }

  /// Largest number of frames in one window. The budget covers two windows, because one window is
  /// encoded while the next is decoded.
  package var framesPerWindow: Int { budget / 2 / frameBytes }

  /// Largest number of frames in a window that is merged from several groups of pictures. Larger
  /// windows are not faster: the encoder waits longer for the first window, and the decoder is idle
  /// longer during the last window. Small windows also reuse memory sooner, so fewer new pages are
  /// needed.
  package var framesPerMerger: Int { min(framesPerWindow, max(1, Planner.mergedBytes / frameBytes)) }

  private static let mergedBytes = 64 << 20

  /// Largest number of frames in memory if memory contains only one window.
  package var framesInAll: Int { budget / frameBytes }

  /// Smallest budget that can reverse frames of this size, in bytes.
  package var smallestBudget: Int { 2 * frameBytes }

  /// Plans windows of complete groups of pictures.
  ///
  /// Small groups are merged. If a group does not fit in memory beside its neighbours, the group's
  /// first frames go to the spool, which costs one copy of each frame. If the spool has no room for
  /// these frames, the group is split, and each part is decoded from the group's keyframe.
  ///
  /// - Parameters:
  ///   - frames: frames to output, in display order.
  ///   - keyframes: positions of the keyframes in display order, ascending. If no keyframe is at or
  ///     before the first frame to output, decoding starts at that frame.
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

  /// Moves spooled frames of each window to the memory that the neighbouring windows leave free.
  private func fill(_ windows: inout [Window]) {
    for place in windows.indices where windows[place].spooled > 0 {
      let neighbours = [place - 1, place + 1].filter(windows.indices.contains).map { windows[$0].held }
      let count = windows[place].frames.count
      windows[place].spooled = count - min(count, framesInAll - (neighbours.max() ?? 0))
    }
  }

  /// Plans a single forward decode of the source: one window, with its last frames in memory.
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
    // The spool needs room for two windows, because one is read while the next is written.
    if spoolRoom / frameBytes / 2 >= excess {
      return [Window(frames: group.frames, keyframe: group.keyframe, spooled: excess)]
    }
    return stride(from: group.frames.lowerBound, to: group.frames.upperBound, by: framesPerWindow).map { start in
      Window(
        frames: start..<min(start + framesPerWindow, group.frames.upperBound), keyframe: group.keyframe, spooled: 0)
    }
  }
}
