/// A stretch of a source can't be known, by itself, to be what a pass over all of the source would give: then that pass is to be made.
struct InexactStretch: Error {
  /// For the log.
  var reason: String
}
