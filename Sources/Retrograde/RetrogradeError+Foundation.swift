// FoundationEssentials, because Foundation depends on ICU, which would triple the size of the
// command.
public import FoundationEssentials
public import RetrogradeEngine

/// `localizedDescription` equals `description`.
extension RetrogradeError: LocalizedError {
  public var errorDescription: String? { description }
}
