import Testing

@testable import RetrogradeCommand

@Suite struct ColumnsTests {
  @Test func textIsPaddedAndNeverCut() {
    #expect("ab".padded(to: 4) == "ab  ")
    #expect("abcde".padded(to: 4) == "abcde")
  }
}
