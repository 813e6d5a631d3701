import CGStreamer

/// GLib's types of values, which C has as macros (`G_TYPE_STRING` and the like).
enum FundamentalType {
  static let uint = GType(7 << 2)
  static let int64 = GType(10 << 2)
  static let double = GType(15 << 2)
  static let string = GType(16 << 2)
}
