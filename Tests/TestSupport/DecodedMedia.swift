package import GStreamer
package import MediaTime

/// Frame numbers, times and audio of a file, decoded with GStreamer's decodebin.
package struct DecodedMedia {
  /// The number painted in each frame, in display order.
  package var numbers: [Int] = []
  /// Stream time of each frame.
  package var times: [ClockTime] = []
  /// Interleaved audio samples as 64-bit floats, which represent all samples of up to 32 bits
  /// exactly.
  package var audio: [UInt8] = []
  /// Stream time of the first audio sample.
  package var audioStart: ClockTime?
  package var audioCaps: Caps?
  package var videoCaps: Caps?
  package var tags: TagList?

  /// Reads only the streams that `media` has, because a sink without a stream would wait forever.
  package init(_ path: String, like media: TestMedia) throws {
    let source = "filesrc location=\(path) ! decodebin name=decode "
    if media.video != nil { try readVideo(source) }
    if media.sampleCount > 0 { try readAudio(source) }
  }

  private mutating func readVideo(_ source: String) throws {
    let pipeline = try Pipeline(
      source + "decode. ! video/x-raw ! videoconvert name=convert ! video/x-raw,format=GRAY8 ! "
        + "appsink name=sink sync=false async=false")
    let decoded = pipeline.element("convert")?.staticPad("sink")
    try Self.drain(pipeline) { sample in
      guard let caps = sample.caps, let width = caps.int("width"), let height = caps.int("height") else { return }
      let stride = (width + 3) / 4 * 4
      numbers.append(
        try sample.buffer.withBytes { bytes in
          TestMedia.number(width: width, height: height) { x, y in bytes[y * stride + x] }
        })
      times.append(sample.streamTime ?? .zero)
      videoCaps = decoded?.caps
      tags = decoded?.tags(global: false)
    }
  }

  private mutating func readAudio(_ source: String) throws {
    let pipeline = try Pipeline(
      source + "decode. ! audio/x-raw ! audioconvert dithering=none ! audio/x-raw,format=F64LE,layout=interleaved ! "
        + "appsink name=sink sync=false async=false")
    try Self.drain(pipeline) { sample in
      if audioStart == nil { audioStart = sample.streamTime }
      audioCaps = sample.caps
      try sample.buffer.withBytes { audio += $0 }
    }
  }
}
