import Testing

@testable import RetrogradeCommand

@Suite struct ColumnsTests {
  @Test("text is padded and never cut")
  func padding() {
    #expect("ab".padded(to: 4) == "ab  ")
    #expect("abcde".padded(to: 4) == "abcde")
  }
}
