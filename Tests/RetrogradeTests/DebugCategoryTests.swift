import GStreamer
import Testing

@Suite struct DebugCategoryTests {
  @Test("messages below the threshold are never built")
  func lazyMessages() {
    let category = DebugCategory("testcategory", "Nothing asks for it")
    var count = 0
    func text() -> String {
      count += 1
      return "made"
    }
    category.warning(text())
    category.info(text())
    category.debug(text())
    #expect(count == 0)
  }
}
