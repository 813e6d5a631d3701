extension Quirk {
  /// All quirks, by element. docs/quirks.md and the tests go through them.
  package static let all: [Quirk] = [
    h264timestamper, qtmux,
  ].flatMap(\.self)
}
