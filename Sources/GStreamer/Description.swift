/// Text for pipeline descriptions in `gst-launch-1.0` syntax.
package enum Description {
  /// Quoted property value: spaces, quotes, `!` and the like in it are not syntax.
  package static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// Escapes `text` for use inside double quotes.
  package static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
