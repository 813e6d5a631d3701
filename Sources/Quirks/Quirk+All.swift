extension Quirk {
  /// All quirks, by element. docs/quirks.md and the tests go through them.
  package static let all: [Quirk] = [
    audioconvert, av1enc, avdec, avdemux_gif, avenc, flacenc, jpegdec, lamemp3enc, openjpegdec, opusdec, pngdec,
    qtmux,
    videoconvert, videocrop, videorate, vp9enc, webpdec, x264enc,
  ].flatMap(\.self)
}
