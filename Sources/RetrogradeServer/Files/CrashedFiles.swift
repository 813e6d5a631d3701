import Paths
import Retrograde
import RetrogradeEngine
import Synchronization

/// Files that crashed the process that read them. None is tried again until it changes.
final class CrashedFiles: Sendable {
  /// Crashed files, by the bytes of their paths.
  private let known = Mutex<[[UInt8]: (stamp: FileStamp, error: RetrogradeError)]>([:])
  private let tell: @Sendable (RetrogradeError) -> Void

  /// - Parameter tell: gets the error of each file once.
  init(tell: @escaping @Sendable (RetrogradeError) -> Void) { self.tell = tell }

  /// - Throws: the error of a file that crashed, if it is the same since.
  func check(_ path: String) async throws {
    guard let crash = known.withLock({ $0[path.pathBytes] }) else { return }
    if try await CrashedFiles.stamp(path) == crash.stamp { throw crash.error }
  }

  /// Does work on a file, unless it crashed and is the same since; notes if it crashes.
  func working<Value: Sendable>(on path: String, _ body: @Sendable () async throws -> Value) async throws -> Value {
    try await check(path)
    let stamp = try await CrashedFiles.stamp(path)
    do {
      return try await body()
    } catch let error as RetrogradeError where error.code == .crashed {
      if let stamp { known.withLock { $0[path.pathBytes] = (stamp, error) } }
      tell(error.naming(spooled: path))
      throw error
    }
  }

  private static func stamp(_ path: String) async throws -> FileStamp? {
    try await onOwnThread("look", Cancellation()) { FileStamp(path) }
  }
}
