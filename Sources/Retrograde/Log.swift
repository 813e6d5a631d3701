import GStreamer
import RetrogradeEngine

extension Log {
  static let job = DebugCategory("retrogradejob", "What is made of what, in which order of play")
  static let encode = DebugCategory("retrogradeencode", "Containers, codecs, encoders; what is copied and spliced")
  static let write = DebugCategory(
    "retrogradewrite", "The pipeline that writes, headers, and files that get their names")
}
