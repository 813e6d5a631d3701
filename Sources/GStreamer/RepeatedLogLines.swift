import CGStreamer
import Synchronization

/// Counts log lines, so that each distinct line is printed only once.
package struct RepeatedLines: Sendable {
  private var counts: [String: Int] = [:]
  private var order: [String] = []
  /// Number of lines that were not printed because the limit of distinct lines was reached.
  package private(set) var omitted = 0

  /// Maximum number of distinct lines that are printed.
  package static let most = 1000

  package init() {}

  /// Counts a line.
  /// - Returns: true if the line should be printed.
  package mutating func note(_ line: String) -> Bool {
    if let count = counts[line] {
      counts[line] = count + 1
      return false
    }
    guard counts.count < RepeatedLines.most else {
      omitted += 1
      return false
    }
    counts[line] = 1
    order.append(line)
    return true
  }

  /// Repeated lines with their counts, in order of first occurrence.
  package var repeated: [(line: String, count: Int)] {
    order.compactMap { line in counts[line].flatMap { $0 > 1 ? (line, $0) : nil } }
  }
}

extension GStreamer {
  private static let lines = Mutex(RepeatedLines())

  /// Prints each warning and error of GLib's log only once, because a damaged file may cause the
  /// same message for every packet. Must not be called twice, because GLib accepts only one log
  /// writer.
  package static func printLogLinesOnce() {
    g_log_set_writer_func(
      { level, fields, count, _ in
        let rare = G_LOG_LEVEL_ERROR.rawValue | G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_WARNING.rawValue
        let isRare = level.rawValue & rare != 0
        func text(_ key: String) -> String? {
          guard let fields else { return nil }
          return UnsafeBufferPointer(start: fields, count: Int(count)).first { field in
            field.length < 0 && field.key.map { String(cString: $0) } == key
          }?.value.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
        }
        guard isRare, let message = text("MESSAGE") else { return g_log_writer_default(level, fields, count, nil) }
        let line = "\(text("GLIB_DOMAIN").map { "\($0): " } ?? "")\(message)"
        guard GStreamer.lines.withLock({ $0.note(line) }) else { return G_LOG_WRITER_HANDLED }
        return g_log_writer_default(level, fields, count, nil)
      }, nil, nil)
  }

  /// Messages about unprinted lines: one for each repeated line, and one for lines beyond the
  /// limit.
  package static var unprintedLogLines: [String] {
    lines.withLock { lines in
      lines.repeated.map { "\($0.line) (\($0.count) times)" }
        + (lines.omitted > 0 ? ["\(lines.omitted) more log lines were not printed"] : [])
    }
  }
}
