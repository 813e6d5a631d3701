/// Error thrown if the index of a part of a source may differ from an index of the whole source.
/// The caller then indexes the whole source.
struct InexactRange: Error {
  /// Explanation for the log.
  var reason: String
}
