import GStreamer
import Testing

/// Caps, their summaries, and the ranks of installed elements.
@Suite struct CapsTests {
  @Test(
    "caps are summarized in plain words",
    arguments: [
      ("video/x-raw,format=I420,width=640,height=360,framerate=30000/1001", "640x360, 29.97 fps"),
      ("video/x-raw,format=NV12,width=64,height=48,framerate=0/1", "64x48, variable frame rate"),
      (
        "video/x-raw,format=I422_10LE,width=720,height=576,framerate=25/1,pixel-aspect-ratio=64/45,interlace-mode=interleaved",
        "720x576, 25 fps, pixels 64:45, 10 bit, 4:2:2, interlaced"
      ),
      (
        "video/x-raw,format=P010_10LE,width=3840,height=2160,framerate=119/2,colorimetry=bt2100-hlg",
        "3840x2160, 59.5 fps, 10 bit, HDR (HLG)"
      ),
      ("video/x-raw,format=RGBA,width=8,height=8,framerate=5/1", "8x8, 5 fps, RGBA"),
      ("video/x-raw,format=GRAY8,width=8,height=8,framerate=5/1", "8x8, 5 fps, grey"),
      ("audio/x-raw,format=S16LE,layout=interleaved,rate=44100,channels=1", "44.1 kHz, mono"),
      ("audio/x-raw,format=F32LE,layout=interleaved,rate=48000,channels=6,channel-mask=(bitmask)0x3f", "48 kHz, 5.1"),
      (
        "audio/x-raw,format=F32LE,layout=interleaved,rate=11025,channels=4,channel-mask=(bitmask)0x33",
        "11.03 kHz, 4 channels"
      ),
      ("text/x-raw,format=utf8", ""),
    ])
  func summaries(caps: String, words: String) throws {
    #expect(try #require(Caps(caps)).summary.joined(separator: ", ") == words)
  }

  @Test("a channel mask survives being written to caps and read again")
  func channelMasks() throws {
    for mask: UInt64 in [0, 3, 0x3F, 0x8000_0000_0000_0001] {
      #expect(try #require(Caps("audio/x-raw,\(Caps.field(channelMask: mask))")).channelMask == mask)
    }
    #expect(try #require(Caps("audio/x-raw,channel-mask=(int)3")).channelMask == nil)
    #expect(try #require(Caps("audio/x-raw")).channelMask == nil)
  }

  /// The ranks of elements belong to the host process, so changed ranks must be restored.
  @Test("changed ranks are restored")
  func restoredRanks() throws {
    // No concurrent test uses this codec.
    let speex = try #require(Caps("audio/x-speex"))
    let before = Registry.factories(.encoder, sources: speex)
    #expect(before.contains("speexenc"))
    let within = Registry.choosing([], avoiding: ["speexenc"]) { Registry.factories(.encoder, sources: speex) }
    #expect(!within.contains("speexenc"))
    #expect(throws: GStreamerError.self) {
      try Registry.choosing([], avoiding: ["speexenc"]) { try Pipeline("no such element") }
    }
    #expect(Registry.factories(.encoder, sources: speex) == before)
  }

  @Test("a device path is escaped in a pipeline description")
  func devicePath() throws {
    let path = "/dev/\"odd\" \\ ! fakesink"
    let element = try Pipeline("\(Device(videoAt: path).source) name=camera ! fakesink").element("camera")
    #expect(element?.string("device") == path)
  }
}
