package import GStreamer

/// Debug categories for the decisions of each stage, with the reasons. See docs/debug-logs.md.
package enum Log {
  package static let index = DebugCategory("retrogradeindex", "What is in a source, and what ended its indexing pass")
  package static let decode = DebugCategory("retrogradedecode", "Decoders, and ways round what they can't do")
  package static let window = DebugCategory("retrogradewindow", "Plans, windows and seeks")
}
