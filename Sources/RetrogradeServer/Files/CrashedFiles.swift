import Paths
import Retrograde
import RetrogradeEngine
import Synchronization

/// Files that crashed their reader process. A file is not retried until it changes.
final class CrashedFiles: Sendable {
  /// Crashed files, by the bytes of their paths.
  private let known = Mutex<[[UInt8]: (stamp: FileStamp, error: RetrogradeError)]>([:])
  private let onCrash: @Sendable (RetrogradeError) -> Void

  /// - Parameter onCrash: called with the error after each crash.
  init(onCrash: @escaping @Sendable (RetrogradeError) -> Void) { self.onCrash = onCrash }

  /// - Throws: the recorded error, if a process crashed on the file, and the file is unchanged.
  func check(_ path: String) async throws {
    guard let crash = known.withLock({ $0[path.pathBytes] }) else { return }
    if try await CrashedFiles.stamp(path) == crash.stamp { throw crash.error }
  }

  /// Runs `body` on a file, and records a crash. If an earlier process crashed on the file, and the
  /// file is unchanged, throws the recorded error instead.
  func working<Value: Sendable>(on path: String, _ body: @Sendable () async throws -> Value) async throws -> Value {
    try await check(path)
    let stamp = try await CrashedFiles.stamp(path)
    do {
      return try await body()
    } catch let error as RetrogradeError where error.code == .crashed {
      if let stamp { known.withLock { $0[path.pathBytes] = (stamp, error) } }
      onCrash(error.naming(spooled: path))
      throw error
    }
  }

  private static func stamp(_ path: String) async throws -> FileStamp? {
    try await onOwnThread("look", Cancellation()) { FileStamp(path) }
  }
}
