/// Error of an image library.
package struct ImageError: Error, CustomStringConvertible {
  package let message: String
  /// True if writing the file failed, rather than encoding the images.
  package let isWriting: Bool

  package init(message: String, isWriting: Bool = false) {
    self.message = message
    self.isWriting = isWriting
  }

  package var description: String { message }
}
