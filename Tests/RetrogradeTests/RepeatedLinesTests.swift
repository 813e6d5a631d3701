import GStreamer
import Testing

@Suite struct RepeatedLinesTests {
  @Test("a repeated line is printed once and counted")
  func counts() {
    var lines = RepeatedLines()
    #expect(["a", "b", "a", "c", "b", "a"].map { lines.note($0) } == [true, true, false, true, false, false])
    #expect(lines.repeated.map(\.line) == ["a", "b"] && lines.repeated.map(\.count) == [3, 2])
    #expect(lines.omitted == 0)
  }

  @Test("lines that all differ are printed up to a limit")
  func limit() {
    var lines = RepeatedLines()
    let printed = (0..<RepeatedLines.most + 5).filter { lines.note("\($0)") }
    #expect(printed.count == RepeatedLines.most && lines.omitted == 5 && lines.repeated.isEmpty)
  }
}
