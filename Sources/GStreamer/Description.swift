/// Text for pipeline descriptions in `gst-launch-1.0` syntax.
package enum Description {
  /// Quotes a property value, so that spaces, quotes, `!` and the like in the value are not syntax.
  package static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// Escapes `text` for use inside double quotes.
  package static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
