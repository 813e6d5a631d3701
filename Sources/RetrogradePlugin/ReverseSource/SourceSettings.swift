import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Paths

/// Properties of reversesrc.
struct SourceSettings: Sendable {
  var uri: String?
  var loop = Loop.reverse
  var count: UInt32 = 1
  var memoryBudget = UInt64(512 << 20)
  var spoolDirectory: String?
  var start = UInt64(0)
  var stop = UInt64.max
  var timing = Timing.mirror
  var score: String?
  var joint = UInt64(Score.joint.raw)
  var dissolve = UInt64(0)
  var interpolates = false
  var keepsPitch = false

  enum Property: UInt32 {
    case uri = 1
    case loop, count, memoryBudget, spoolDirectory, start, stop, timing, score, joint, keepsPitch, dissolve,
      interpolates
  }

  /// URI schemes by which players find the element, each with its order of play.
  static let schemes: [(name: String, loop: Loop)] = [("reverse+file", .reverse), ("pingpong+file", .pingPong)]

  private static let loopType = EnumType.register(
    "RetrogradeLoop",
    [
      (nick: "reverse", blurb: "Last to first"), (nick: "ping-pong", blurb: "Forwards, then back"),
      (nick: "reverse-forward", blurb: "Back, then forwards"), (nick: "forward", blurb: "Forwards"),
    ])

  private static let timingType = EnumType.register(
    "RetrogradeTiming",
    [
      (nick: "mirror", blurb: "Each frame is shown as long as in the source"),
      (nick: "source", blurb: "The i-th frame starts when the source's i-th frame did"),
    ])

  static func install(_ klass: ElementClass) {
    klass.property(
      Property.uri.rawValue, "uri", "URI",
      "The file to reverse: file:///…, reverse+file:///…, or pingpong+file:///…, which also sets loop", string: nil)
    klass.property(
      Property.loop.rawValue, "loop", "Loop",
      "The order of play; the frame at a turn is not repeated, and the audio skips the same time",
      enumeration: loopType, value: 0)
    klass.property(
      Property.count.rawValue, "count", "Count", "How often the loop is played; 0: without end", uint: 1, from: 0,
      to: UInt32(PlaybackLegs.counts.upperBound))
    klass.property(
      Property.memoryBudget.rawValue, "memory-budget", "Memory budget",
      "The most bytes of decoded video to hold in memory, whatever the length of the source", uint64: 512 << 20,
      from: 0,
      to: UInt64(Int64.max))
    klass.property(
      Property.spoolDirectory.rawValue, "spool-dir", "Spool directory",
      "Folder for decoded audio and frames beyond the budget, in a temporary file without a name; unset: TMPDIR, or "
        + "/var/tmp", string: nil)
    klass.property(
      Property.start.rawValue, "start", "Start", "Position in the source where playback begins, in nanoseconds",
      uint64: 0, from: 0, to: UInt64(Int64.max))
    klass.property(
      Property.stop.rawValue, "stop", "Stop",
      "Position in the source where playback ends, in nanoseconds; -1: at its end", uint64: .max, from: 0, to: .max)
    klass.property(
      Property.timing.rawValue, "timing", "Timing", "How frames played backwards are timed", enumeration: timingType,
      value: 0)
    klass.property(
      Property.score.rawValue, "score", "Score",
      "Stretches of the source, each in its direction and at its speed, in place of loop: 0..4 x0.5, hold 0.8, 4..0 x2; "
        + "excludes start and stop", string: nil)
    klass.property(
      Property.joint.rawValue, "joint", "Joint",
      "Length of the crossfade between two stretches of a score that would click, in nanoseconds",
      uint64: UInt64(Score.joint.raw), from: 0, to: 10_000_000_000)
    klass.property(
      Property.dissolve.rawValue, "dissolve", "Dissolve",
      "Length of the cross-dissolve between two stretches of a score that do not follow each other, in nanoseconds",
      uint64: 0, from: 0, to: 60_000_000_000)
    klass.property(
      Property.interpolates.rawValue, "interpolate", "Interpolate",
      "Mixes two frames to fill stretches that a score plays slower than the source")
    klass.property(
      Property.keepsPitch.rawValue, "keep-pitch", "Keep pitch",
      "Audio keeps its pitch where a score changes the speed")
  }

  mutating func set(_ id: UInt32, _ value: UnsafePointer<GValue>) {
    switch Property(rawValue: id) {
    case .uri: setURI(g_value_get_string(value).map { String(cString: $0) })
    case .loop: loop = Loop.allCases[Int(g_value_get_enum(value))]
    case .count: count = UInt32(g_value_get_uint(value))
    case .memoryBudget: memoryBudget = UInt64(g_value_get_uint64(value))
    case .spoolDirectory: spoolDirectory = g_value_get_string(value).map { String(cPath: $0) }
    case .start: start = UInt64(g_value_get_uint64(value))
    case .stop: stop = UInt64(g_value_get_uint64(value))
    case .timing: timing = Timing.allCases[Int(g_value_get_enum(value))]
    case .score: score = g_value_get_string(value).map { String(cString: $0) }
    case .joint: joint = UInt64(g_value_get_uint64(value))
    case .dissolve: dissolve = UInt64(g_value_get_uint64(value))
    case .interpolates: interpolates = g_value_get_boolean(value) != 0
    case .keepsPitch: keepsPitch = g_value_get_boolean(value) != 0
    case nil: break
    }
  }

  func get(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) {
    switch Property(rawValue: id) {
    case .uri: g_value_set_string(value, uri)
    case .loop: g_value_set_enum(value, gint(Loop.allCases.firstIndex(of: loop) ?? 0))
    case .count: g_value_set_uint(value, count)
    case .memoryBudget: g_value_set_uint64(value, guint64(memoryBudget))
    case .spoolDirectory: g_value_set_string(value, spoolDirectory?.cPath)
    case .start: g_value_set_uint64(value, guint64(start))
    case .stop: g_value_set_uint64(value, guint64(stop))
    case .timing: g_value_set_enum(value, gint(Timing.allCases.firstIndex(of: timing) ?? 0))
    case .score: g_value_set_string(value, score)
    case .joint: g_value_set_uint64(value, guint64(joint))
    case .dissolve: g_value_set_uint64(value, guint64(dissolve))
    case .interpolates: g_value_set_boolean(value, interpolates ? 1 : 0)
    case .keepsPitch: g_value_set_boolean(value, keepsPitch ? 1 : 0)
    case nil: break
    }
  }

  mutating func setURI(_ new: String?) {
    uri = new
    if let scheme = SourceSettings.schemes.first(where: { new?.hasPrefix($0.name + ":") ?? false }) {
      loop = scheme.loop
    }
  }

  /// Local file that `uri` names; nil if `uri` names no local file.
  var path: String? {
    guard var uri else { return nil }
    if let scheme = SourceSettings.schemes.first(where: { uri.hasPrefix($0.name + ":") }) {
      uri = "file" + uri.dropFirst(scheme.name.utf8.count)
    }
    guard uri.hasPrefix("file:") else { return nil }
    guard let name = g_filename_from_uri(uri, nil, nil) else { return nil }
    defer { g_free(name) }
    return String(cPath: name)
  }

  /// - Throws: ``RetrogradeError`` if the score is invalid.
  func playback() throws -> PlaybackOptions {
    PlaybackOptions(
      loop: loop, score: try score.map(Score.init(parsing:)),
      joint: score == nil ? nil : ClockTime(nanoseconds: Int64(clamping: joint)),
      dissolve: ClockTime(nanoseconds: Int64(clamping: dissolve)), interpolation: interpolates ? .blend : nil,
      keepsPitch: keepsPitch, timing: timing,
      start: start > 0 ? .time(ClockTime(nanoseconds: Int64(clamping: start))) : nil,
      end: stop < UInt64(Int64.max) ? .time(ClockTime(nanoseconds: Int64(stop))) : nil,
      // Only streams for which the element has pads: the first video stream and all audio.
      streams: .played)
  }

  var resources: Resources {
    Resources(memory: ByteCount(Int(clamping: memoryBudget)), spoolDirectory: spoolDirectory)
  }
}
