import CSystemSupport

/// The limit on the addresses of this process (`ulimit -v`, `RLIMIT_AS`).
package enum AddressSpace {
  /// True if the process came so near to its limit that memory was refused.
  package static var isExhausted: Bool { system_addresses_are_exhausted() != 0 }

  /// Advice to users who meet the limit.
  package static let remedy: Message = "raise it; \(setting: .memory) limits memory"

  /// An error that names the limit if that explains `error`: without memory, plugins are taken for missing and files
  /// for damaged.
  static func explained(_ error: any Error) -> any Error {
    let explicable: [RetrogradeError.Code] = [.usage, .damagedInput, .missingPlugin, .internalFailure]
    guard let error = error as? RetrogradeError, explicable.contains(error.code), isExhausted else { return error }
    return RetrogradeError(
      .inputOutput, about: error.subject, "the limit on addresses (ulimit -v) is reached: \(error.reason)",
      remedy: remedy, underlying: error.underlying)
  }
}

extension RetrogradeError {
  /// The system starts no thread.
  package static var noThread: RetrogradeError {
    AddressSpace.isExhausted
      ? RetrogradeError(
        .inputOutput, "no thread can be started: the limit on addresses (ulimit -v) is reached",
        remedy: AddressSpace.remedy)
      : RetrogradeError(
        .inputOutput, "no thread can be started",
        remedy: "raise the limit on processes (ulimit -u) of this user or container")
  }
}
