/// Text for pipeline descriptions in `gst-launch-1.0` syntax.
public enum Description {
  /// A property value in quotes, so that spaces, quotes, `!` and the like in it are data and not syntax.
  public static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// What stands for `text` inside double quotes.
  public static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
