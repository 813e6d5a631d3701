import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Paths

/// Properties of videoreverse and audioreverse.
extension ReverseFilter {
  enum Property: UInt32 {
    case loop = 1
    case memoryBudget, spoolDirectory, turnDuration
  }

  private static let loopType = EnumType.register(
    "RetrogradeFilterLoop",
    [
      (nick: "reverse", blurb: "Last to first, when the stream has ended"),
      (nick: "ping-pong", blurb: "Forwards, as it arrives; then back, without the frame at the turn"),
    ])

  static func installProperties(_ klass: ElementClass) {
    klass.property(
      Property.loop.rawValue, "loop", "Loop", "The order of play", enumeration: loopType, value: 0)
    klass.property(
      Property.memoryBudget.rawValue, "memory-budget", "Memory budget",
      "The most bytes of media to hold in memory; what exceeds it waits in the spool", uint64: 512 << 20, from: 0,
      to: UInt64(Int64.max))
    klass.property(
      Property.spoolDirectory.rawValue, "spool-dir", "Spool directory",
      "Folder for the spool, a temporary file without a name; unset: TMPDIR, or /var/tmp", string: nil)
  }

  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) {
    switch Property(rawValue: id) {
    case .loop: settings.isPingPong = g_value_get_enum(value) == 1
    case .memoryBudget: settings.memoryBudget = UInt64(g_value_get_uint64(value))
    case .spoolDirectory: settings.spoolDirectory = g_value_get_string(value).map { String(cPath: $0) }
    case .turnDuration: settings.turnDuration = ClockTime(raw: UInt(g_value_get_uint64(value))) ?? .zero
    case nil: break
    }
  }

  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) {
    switch Property(rawValue: id) {
    case .loop: g_value_set_enum(value, settings.isPingPong ? 1 : 0)
    case .memoryBudget: g_value_set_uint64(value, guint64(settings.memoryBudget))
    case .spoolDirectory: g_value_set_string(value, settings.spoolDirectory?.cPath)
    case .turnDuration: g_value_set_uint64(value, guint64(settings.turnDuration.raw))
    case nil: break
    }
  }
}
