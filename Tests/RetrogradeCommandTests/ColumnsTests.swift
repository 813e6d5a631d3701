import Testing

@testable import RetrogradeCommand

@Suite struct ColumnsTests {
  private static let times: [(Double, String)] = [
    (0, "0.000 s"), (2.0214, "2.021 s"), (0.0796, "0.080 s"), (3599.9996, "3600.000 s"), (-0.0406, "-0.041 s"),
    (-0.0001, "0.000 s"), (.infinity, "inf s"), (1e300, "1e+300 s"),
  ]

  @Test(arguments: times)
  func secondsHaveThreeDecimals(seconds: Double, text: String) { #expect(seconds.inSeconds == text) }

  @Test func textIsPaddedAndNeverCut() {
    #expect("ab".padded(to: 4) == "ab  ")
    #expect("abcde".padded(to: 4) == "abcde")
  }
}
