extension Quirk {
  /// All quirks, by element. docs/quirks.md and the tests go through them.
  package static let all: [Quirk] = [
    matroskamux, mpegtsmux, oggmux, qtmux, xingmux,
  ].flatMap(\.self)
}
