/// Thrown if a stretch of a source, by itself, can't be known to equal that part of a pass over all of the
/// source: then that pass is to be made.
struct InexactStretch: Error {
  /// For the log.
  var reason: String
}
