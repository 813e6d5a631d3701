import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Plans for reading a video backwards within a memory budget. A window is a range of frames that
/// are decoded forwards, stored, and output in reverse.
@Suite struct PlanTests {
  @Test("every frame is in exactly one window, and no window exceeds the budget")
  func randomPlans() throws {
    var generator = SeededGenerator(4)
    for _ in 0..<5000 {
      let count = Int.random(in: 1...2000, using: &generator)
      let keyframes = (0..<count).filter { _ in Int.random(in: 0..<40, using: &generator) == 0 }
      var planner = Planner(
        budget: Int.random(in: 2...500, using: &generator) * 100, frameBytes: 100,
        spoolRoom: Int.random(in: 0...3000, using: &generator) * 100)
      planner.isWatched = Bool.random(using: &generator)
      let low = Int.random(in: 0..<count, using: &generator)
      let frames = low..<Int.random(in: low + 1...count, using: &generator)
      var plan = try #require(planner.plan(frames: frames, keyframes: keyframes))
      if planner.isWatched { plan = plan.split(before: Int.random(in: frames, using: &generator)) }
      #expect(plan.windows.reversed().flatMap { Array($0.frames) } == Array(frames))
      #expect(plan.peakBytes <= plan.budget)
      #expect(plan.peakSpoolBytes <= planner.spoolRoom)
      for window in plan.windows {
        #expect(window.keyframe <= window.frames.lowerBound)
        #expect(window.spooled >= 0 && window.held >= 1)
        if let before = keyframes.last(where: { $0 <= window.frames.lowerBound }) {
          #expect(window.keyframe <= before, "a window starts decoding at a keyframe")
        }
      }
    }
  }

  @Test("nothing is decoded twice if the GOPs fit")
  func fittingGOPs() throws {
    let planner = Planner(budget: 4000, frameBytes: 100, spoolRoom: 0)
    let plan = try #require(planner.plan(frames: 0..<200, keyframes: Array(stride(from: 0, to: 200, by: 10))))
    #expect(plan.decodingWork == 1)
    #expect(
      plan.windows.map(\.frames.count) == Array(repeating: 20, count: 10), "groups are merged up to half the budget")
  }

  @Test("windows are no longer than needed, however much memory there is")
  func windowLength() throws {
    let planner = Planner(budget: 8 << 30, frameBytes: 4 << 20, spoolRoom: 0)
    let plan = try #require(planner.plan(frames: 0..<200, keyframes: Array(stride(from: 0, to: 160, by: 5))))
    #expect(plan.windows.map(\.frames.count) == [45, 5] + Array(repeating: 15, count: 10))
  }

  @Test("in a player, the first window is no longer than the last GOP")
  func firstWindow() throws {
    var planner = Planner(budget: 4000, frameBytes: 100, spoolRoom: 0)
    planner.isWatched = true
    let plan = try #require(planner.plan(frames: 0..<200, keyframes: Array(stride(from: 0, to: 200, by: 10))))
    #expect(plan.decodingWork == 1)
    #expect(plan.windows.map(\.frames.count) == [10, 10] + Array(repeating: 20, count: 9))
  }

  @Test("a GOP larger than the budget is spooled if there is room")
  func spooledGOP() throws {
    let roomy = Planner(budget: 2000, frameBytes: 100, spoolRoom: 100_000)
    let spooled = try #require(roomy.plan(frames: 0..<100, keyframes: [0]))
    #expect(
      spooled.windows == [Window(frames: 0..<100, keyframe: 0, spooled: 80)], "a lone window has the whole budget")
    #expect(spooled.decodingWork == 1)
  }

  @Test("a single GOP that fits the budget needs no spool")
  func singleGOP() throws {
    let planner = Planner(budget: 2000, frameBytes: 100, spoolRoom: 0)
    #expect(
      try #require(planner.plan(frames: 5..<25, keyframes: [5])).windows
        == [Window(frames: 5..<25, keyframe: 5, spooled: 0)])
  }

  @Test("a large GOP gets the memory that the neighbouring windows do not need")
  func largeGOP() throws {
    let planner = Planner(budget: 2000, frameBytes: 100, spoolRoom: 100_000)
    let plan = try #require(planner.plan(frames: 0..<40, keyframes: [0, 8, 36]))
    #expect(
      plan.windows == [
        Window(frames: 36..<40, keyframe: 36, spooled: 0), Window(frames: 8..<36, keyframe: 8, spooled: 16),
        Window(frames: 0..<8, keyframe: 0, spooled: 0),
      ])
  }

  @Test("the end of a GOP can be decoded first")
  func endFirst() throws {
    let planner = Planner(budget: 2000, frameBytes: 100, spoolRoom: 100_000)
    let plan = try #require(planner.plan(frames: 0..<40, keyframes: [0, 8]))
    #expect(plan.windows.first == Window(frames: 8..<40, keyframe: 8, spooled: 20))
    #expect(
      plan.split(before: 36).windows == [
        Window(frames: 36..<40, keyframe: 8, spooled: 0), Window(frames: 8..<36, keyframe: 8, spooled: 16),
        Window(frames: 0..<8, keyframe: 0, spooled: 0),
      ])
    #expect(plan.split(before: 9).windows.first?.frames == 21..<40, "memory has no room for more beside a frame")
    #expect(plan.split(before: 40) == plan)
  }

  @Test("a GOP larger than the budget is split if there is no room to spool it")
  func splitGOP() throws {
    let tight = Planner(budget: 2000, frameBytes: 100, spoolRoom: 0)
    let split = try #require(tight.plan(frames: 0..<100, keyframes: [0]))
    #expect(split.windows.count == 10)
    #expect(split.windows.allSatisfy { $0.spooled == 0 && $0.keyframe == 0 })
    #expect(split.decodingWork == 5.5)
  }

  @Test("there is no plan for a memory budget of less than two frames")
  func tinyBudget() {
    #expect(Planner(budget: 199, frameBytes: 100, spoolRoom: 1000).plan(frames: 0..<2, keyframes: [0]) == nil)
    #expect(Planner(budget: 200, frameBytes: 100, spoolRoom: 1000).plan(frames: 0..<2, keyframes: [0]) != nil)
  }

  @Test("a forward plan keeps the last frames in memory")
  func forward() throws {
    let planner = Planner(budget: 2000, frameBytes: 100, spoolRoom: 100_000)
    let plan = try #require(planner.forwardPlan(frames: 0..<100))
    #expect(plan.windows == [Window(frames: 0..<100, keyframe: 0, spooled: 80)])
  }
}
