// Import FoundationEssentials, not Foundation, because Foundation depends on ICU, which would
// triple the size of the command.
public import FoundationEssentials
public import RetrogradeEngine

/// Makes `localizedDescription` equal `description`.
extension RetrogradeError: LocalizedError {
  public var errorDescription: String? { description }
}
