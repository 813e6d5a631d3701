extension Quirk {
  /// All quirks, by element. docs/quirks.md lists them, and the tests reproduce their symptoms.
  package static let all: [Quirk] = [
    aiffparse, appsink, asfdemux, audioconvert, av1enc, avdec, avdemux, avenc, avidemux, core, dashdemux,
    dfbvideosink, dvdlpcmdec, flacdec, flacenc, flacparse, flvdemux, gifdec, h264parse, h264timestamper,
    h265parse, id3demux, id3v2mux, jpeg2000parse, jpegdec, jpegenc, jpegparse, lamemp3enc, matroskademux, matroskamux,
    mpeg4videoparse, mpegaudioparse, mpegpsdemux, mpegtsmux, oggmux, openjpegdec, opusdec, opusenc,
    parsebin, pngdec, qtdemux, qtmux, sfdec, souphttpsrc, tsdemux, videoconvert, videocrop,
    videorate, vp9dec, vp9enc, vp9parse, wavenc, wavpackdec, wavparse, webpdec, webpenc, x264enc, x265enc, xingmux,
    y4mdec, y4menc,
  ].flatMap(\.self)
}
