/// Returns a number with a noun in the singular or plural, such as `1 frame` or `2 frames`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
