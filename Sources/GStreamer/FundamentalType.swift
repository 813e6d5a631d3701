import CGStreamer

/// GLib's fundamental types. In C they are macros (`G_TYPE_STRING` and the like), which Swift does
/// not import.
enum FundamentalType {
  static let uint = GType(7 << 2)
  static let int64 = GType(10 << 2)
  static let double = GType(15 << 2)
  static let string = GType(16 << 2)
}
