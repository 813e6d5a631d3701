import CGStreamer

/// GLib's fundamental types, which are macros in C (`G_TYPE_STRING` and the like).
enum FundamentalType {
  static let uint = GType(7 << 2)
  static let int64 = GType(10 << 2)
  static let double = GType(15 << 2)
  static let string = GType(16 << 2)
}
