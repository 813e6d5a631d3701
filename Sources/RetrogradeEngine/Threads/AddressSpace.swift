import Glibc
import Paths

/// The limit on the addresses of this process (`ulimit -v`, `RLIMIT_AS`), which also counts what is reserved and never
/// used.
enum AddressSpace {
  /// Bytes that plugins, encoders and threads ask for at once; below that, something has been refused.
  private static let margin = 256 << 20

  /// true if the process came so near to its limit that memory was refused.
  private static var isExhausted: Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, let limit = Int(exactly: limit.rlim_cur),
      let peak
    else { return false }
    return limit - peak < margin
  }

  /// The most addresses so far, in bytes; nil if that cannot be known.
  private static var peak: Int? {
    let descriptor = open("/proc/self/status".cPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, filled in
      filled = max(read(descriptor, buffer.baseAddress, 4096), 0)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.firstMatch(of: /VmPeak:\s*([0-9]{1,12}) kB/).flatMap { Int($0.1) }.map { $0 * 1024 }
  }

  /// An error that names the limit if that explains `error`: without memory, plugins are taken for missing and files
  /// for damaged.
  static func explained(_ error: any Error) -> any Error {
    let explicable: [RetrogradeError.Code] = [.usage, .damagedInput, .missingPlugin, .internalFailure]
    guard let error = error as? RetrogradeError, explicable.contains(error.code), isExhausted else { return error }
    return RetrogradeError(
      .inputOutput, about: error.subject, "the limit on addresses (ulimit -v) is reached: \(error.reason)",
      remedy: "raise it; \(setting: .memory) limits memory", underlying: error.underlying)
  }
}
