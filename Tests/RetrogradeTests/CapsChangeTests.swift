import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Pictures that change on the way, in size, in shape of pixels, or in what is said of their colour, are written into one stream.
@Suite struct CapsChangeTests {
  /// How each codec gets into Matroska although it changes: hidden in caps that stay, or with its headers in the stream.
  private static let codecs = [
    "vp8": "vp8enc deadline=1 keyframe-max-dist=8 ! \(fixed("video/x-vp8"))",
    "vp9": "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=8 lag-in-frames=0 ! \(fixed("video/x-vp9"))",
    "mjpeg": "jpegenc ! \(fixed("image/jpeg"))",
    "h264":
      "x264enc key-int-max=8 ! video/x-h264,stream-format=byte-stream ! h264parse ! video/x-h264,stream-format=avc3",
    "h265":
      "x265enc key-int-max=8 ! video/x-h265,stream-format=byte-stream ! h265parse ! video/x-h265,stream-format=hev1",
  ]

  private static func fixed(_ codec: String) -> String {
    "capssetter replace=true caps=\"\(codec),width=96,height=64,framerate=(fraction)25/1\""
  }

  private static let changes = [
    "size": ("width=96,height=64", "width=64,height=96"),
    "chroma site": ("width=96,height=64,chroma-site=mpeg2", "width=96,height=64"),
    "colorimetry": ("width=96,height=64,colorimetry=bt709", "width=96,height=64,colorimetry=bt601,chroma-site=jpeg"),
    "pixel aspect ratio": (
      "width=96,height=64,pixel-aspect-ratio=1/1", "width=96,height=64,pixel-aspect-ratio=2/1"
    ),
  ]

  @Test(
    arguments: ["vp8", "vp9", "mjpeg", "h264", "h265"], ["size", "chroma site", "colorimetry", "pixel aspect ratio"])
  func picturesThatChangeOnTheWayGoIntoEveryContainer(codec: String, change: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("source.mkv")
    let (first, second) = try #require(CapsChangeTests.changes[change])
    let encoder = try #require(CapsChangeTests.codecs[codec])
    let pipeline = try Pipeline(
      "concat name=c ! \(encoder) ! matroskamux ! filesink location=\(source) "
        + "videotestsrc num-buffers=12 ! video/x-raw,format=I420,framerate=25/1,\(first) ! c. "
        + "videotestsrc num-buffers=12 ! video/x-raw,format=I420,framerate=25/1,\(second) ! c.")
    pipeline.set(.playing)
    guard case .endOfStream = pipeline.nextMessage(timeout: ClockTime(seconds: 60)) else {
      Issue.record("no source can be made")
      return
    }
    pipeline.set(.null)
    let count = try DecodedMedia.buffers(of: "filesrc location=\(source) ! decodebin ! video/x-raw").count
    for container in ["mp4", "mov", "mkv", "webm", "avi", "ts"] {
      let mirror = folder.path("mirror.\(container)")
      let summary = try await Reverser(source).reverse(to: mirror)
      #expect(summary.frames == count, "\(container)")
      #expect(summary.warnings.allSatisfy { [.converted, .timesRepaired].contains($0.code) }, "\(summary.warnings)")
      let written = try DecodedMedia.buffers(of: "filesrc location=\(mirror) ! decodebin ! video/x-raw")
      #expect(written.count == count, "\(container)")
      #expect(Set(written.map(\.count)).count == 1, "one size")
    }
  }

  @Test(arguments: ["mp4", "mov"])
  func vp9ThatDoesNotSayWhereItsColourLiesGoesIntoMP4(container: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.video =
      "videoconvert ! vp9enc deadline=1 cpu-used=8 ! capssetter replace=true caps=\"video/x-vp9,width=96,height=64\""
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.videoCodec = "vp9"
    options.encoding.quality = .high
    let mirror = folder.path("mirror.\(container)")
    let summary = try await Reverser(source, options: options).reverse(to: mirror)
    #expect(summary.frames == 60)
    let shown = try DecodedMedia(source, like: media).numbers
    #expect(try DecodedMedia(mirror, like: media).numbers == shown.reversed())
  }
}
