import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of image decoders") struct ImageDecoderTests {
  @Test("avdec_mjpeg takes colorimetry from the container, not from the JPEG")
  func containerColors() throws {
    try expect(.avdecMJPEGContainerColors) {
      let caps = try caps(
        of: """
          videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=64 ! jpegenc ! jpegparse !
          capssetter caps=image/jpeg,colorimetry=(string)2:4:0:0 ! avdec_mjpeg
          """)
      return caps.string("colorimetry")?.hasPrefix("2:") ?? false
    }
  }

  @Test("pngdec makes the first pixel of 16-bit RGB transparent")
  func deepRGB() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.png")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "color=red:s=8x8", "-frames:v", "1", "-pix_fmt", "rgb48be", path])
    try expect(.pngdecDeepRGB) {
      let pixels = try bytes(of: "filesrc location=\(path) ! pngparse ! pngdec ! video/x-raw,format=ARGB64")
      return pixels.prefix(2) != [255, 255]
    }
  }

  @Test("jpegdec subsamples the chroma of 4:4:4")
  func jpegChroma() throws {
    try expect(.jpegdecChroma) {
      let source = "videotestsrc num-buffers=1 ! video/x-raw,format=Y444 ! jpegenc ! jpegparse"
      #expect(try caps(of: "\(source) ! avdec_mjpeg").string("format") == "Y444")
      return try caps(of: "\(source) ! jpegdec").string("format") != "Y444"
    }
  }

  @Test("jpegenc encodes the row padding of a frame")
  func jpegRowPadding() throws {
    try expect(.jpegencRowPadding) {
      let caps = "video/x-raw,format=Y42B,width=98,height=16,framerate=25/1"
      // Luma rows of 98 bytes and chroma rows of 49 bytes, padded to 100 and 52 bytes.
      let encoded = try [0, 255].map { padding in
        try packets(of: "appsrc name=in format=time caps=\(caps) ! jpegenc") { pipeline in
          guard let source = try? pipeline.appSource("in"), let caps = Caps(caps),
            let frame = try? Buffer(
              size: 16 * (100 + 52 + 52),
              fill: { bytes in
                for place in bytes.indices {
                  let isPadding = place < 1600 ? place % 100 >= 98 : (place - 1600) % 52 >= 49
                  bytes[place] = isPadding ? UInt8(padding) : 100
                }
              })
          else { return }
          // `withRepeatedEdge` overwrites the row padding in `whole`, so `whole` must be encoded to
          // the same bytes for both values of `padding`.
          guard let whole = try? frame.withRepeatedEdge(caps) else { return }
          for (number, frame) in [frame, whole].enumerated() {
            frame.stamp(pts: .milliseconds(number * 40), duration: .milliseconds(40))
            _ = source.push(frame)
          }
          source.endOfStream()
        }.map { try $0.buffer.withBytes { Array($0) } }
      }
      #expect(encoded.allSatisfy { $0.count == 2 } && encoded[0].last == encoded[1].last)
      return encoded[0].first != encoded[1].first
    }
  }

  @Test("openjpegdec refuses subsampled YUV")
  func jpeg2000Chroma() throws {
    try expect(.openjpegdecChroma) {
      let folder = try TemporaryFolder()
      let path = folder.path("yuv.mov")
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "testsrc=s=64x48:d=0.1", "-pix_fmt", "yuv420p", "-c:v", "jpeg2000", path,
      ])
      let source = "filesrc location=\(path) ! qtdemux ! jpeg2000parse"
      #expect(try caps(of: "\(source) ! avdec_jpeg2000").string("format") == "I420")
      return fails("\(source) ! openjpegdec")
    }
  }

  @Test("pngdec decodes only the first frame of an animated PNG")
  func animatedPNG() throws {
    try expect(.pngdecAnimation) {
      let folder = try TemporaryFolder()
      let path = folder.path("a.png")
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.5", "-f", "apng", path])
      return try samples(of: "filesrc location=\(path) ! pngparse ! pngdec").count == 1
    }
  }

  @Test("animated WebP is not decoded")
  func animatedWebP() throws {
    try expect(.webpdecAnimation) {
      let folder = try TemporaryFolder()
      let path = folder.path("a.webp")
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.5", "-c:v", "libwebp_anim", path])
      let found = try? samples(of: "filesrc location=\(path) blocksize=1000000 ! webpdec")
      return (found?.count ?? 0) < 5
    }
  }
}
