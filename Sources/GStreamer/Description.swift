/// Text for pipeline descriptions in `gst-launch-1.0` syntax.
package enum Description {
  /// A property value in quotes, so that spaces, quotes, `!` and the like in it are data and not syntax.
  package static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// Form of `text` inside double quotes.
  package static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
