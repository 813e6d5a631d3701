import GStreamer
import Testing

@Suite struct DebugCategoryTests {
  @Test func whatIsNotShownIsNotEvenMade() {
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
