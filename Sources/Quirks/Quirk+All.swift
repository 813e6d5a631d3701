extension Quirk {
  /// All quirks, by element. docs/quirks.md and the tests go through them.
  package static let all: [Quirk] = [
    avdemuxGIF, flvdemux, matroskademux, mpegpsdemux, qtdemux, qtmux, tsdemux, wavparse,
  ].flatMap(\.self)
}
