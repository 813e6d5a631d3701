extension Quirk {
  /// All quirks, by element. docs/quirks.md and the tests go through them.
  package static let all: [Quirk] = [
    avdemuxGIF, avidemux, dashdemux, flvdemux, h264parse, h265parse, id3demux,
    jpeg2000parse, jpegparse, matroskademux, mpeg4videoparse, mpegaudioparse, mpegpsdemux,
    parsebin, qtdemux, qtmux, souphttpsrc, tsdemux, wavparse,
  ].flatMap(\.self)
}
