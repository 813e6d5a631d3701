import CSystemSupport

/// Limit on the address space of this process (`ulimit -v`, `RLIMIT_AS`).
package enum AddressSpace {
  /// True if the system refused memory because the process was near its limit.
  package static var isExhausted: Bool { system_addresses_are_exhausted() != 0 }

  /// Advice for users who reach the limit.
  package static let remedy: Message = "raise the limit, or lower \(setting: .memory)"

  /// Returns an error that names the limit, if the limit explains `error`; otherwise `error`.
  /// Without memory, plugins seem to be missing, and files seem to be damaged.
  static func explained(_ error: any Error) -> any Error {
    let explicable: [RetrogradeError.Code] = [.usage, .damagedInput, .missingPlugin, .internalFailure]
    guard let error = error as? RetrogradeError, explicable.contains(error.code), isExhausted else { return error }
    return RetrogradeError(
      .inputOutput, about: error.subject, "the limit on address space (ulimit -v) is reached: \(error.reason)",
      remedy: remedy, underlying: error.underlying)
  }
}

extension RetrogradeError {
  /// Error for a thread that the system refuses to start.
  package static var noThread: RetrogradeError {
    AddressSpace.isExhausted
      ? RetrogradeError(
        .inputOutput, "no thread can be started: the limit on address space (ulimit -v) is reached",
        remedy: AddressSpace.remedy)
      : RetrogradeError(
        .inputOutput, "no thread can be started",
        remedy: "raise the limit on processes (ulimit -u) of this user or container")
  }
}
