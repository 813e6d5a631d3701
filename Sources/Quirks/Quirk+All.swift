extension Quirk {
  /// All quirks, by element. docs/quirks.md and the tests go through them.
  package static let all: [Quirk] = [
    appsink, core, dfbvideosink, matroskamux, mpegtsmux, oggmux, qtmux, webpenc, xingmux,
  ].flatMap(\.self)
}
