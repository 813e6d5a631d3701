// Foundation itself comes with ICU, which would make the command three times as large.
public import FoundationEssentials
public import RetrogradeEngine

/// `localizedDescription` says what `description` does.
extension RetrogradeError: LocalizedError {
  public var errorDescription: String? { description }
}
