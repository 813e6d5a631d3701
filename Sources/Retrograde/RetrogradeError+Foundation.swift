import Foundation
import RetrogradeEngine

/// `localizedDescription` says what `description` does.
extension RetrogradeError: LocalizedError {
  public var errorDescription: String? { description }
}
