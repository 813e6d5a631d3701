/// What a library that writes images said when it could not.
package struct ImageError: Error, CustomStringConvertible {
  package let message: String

  package init(message: String) { self.message = message }

  package var description: String { message }
}
