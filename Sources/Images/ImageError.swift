/// Error of a library that writes images.
package struct ImageError: Error, CustomStringConvertible {
  package let message: String
  /// Whether it was the file that could not be written, not the images.
  package let isWriting: Bool

  package init(message: String, isWriting: Bool = false) {
    self.message = message
    self.isWriting = isWriting
  }

  package var description: String { message }
}
