/// Error thrown if indexing only a part of a source may differ from indexing all of it.
/// The caller then indexes the whole source.
struct InexactRange: Error {
  /// Reason, for the log.
  var reason: String
}
