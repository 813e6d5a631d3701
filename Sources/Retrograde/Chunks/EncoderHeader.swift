import GStreamer
import MediaTime
import RetrogradeEngine

/// Encoder settings with which all chunks of a stream get the same codec header, and each chunk
/// gets the same bytes on every machine.
enum EncoderHeader {
  /// Settings that make an encoder use one thread, by encoder. The output of x264 and x265 depends
  /// on the number of threads. Threads of libvpx and libaom busy-wait for each other: with more
  /// threads than cores, the encoders take several times the CPU time (docs/chunks.md). All cores
  /// are still used, because several chunks are made at once.
  private static let threads: [String: [String: String]] = [
    "x264enc": ["threads": "1"], "x265enc": ["option-string": "frame-threads=1:pools=none"],
    "vp8enc": ["threads": "1"], "vp9enc": ["threads": "1"], "av1enc": ["threads": "1"],
  ]

  /// Each encoder's option for the level of the stream. Without the option, an encoder derives the
  /// level from the bit rate, which differs between chunks (ITU-T H.264, A.3).
  private static let level = ["x264enc": "level", "x265enc": "level-idc"]

  /// - Parameters:
  ///   - video: stream with the requested settings.
  ///   - chunks: for each chunk, the settings that differ between chunks.
  /// - Returns: the settings to use for all chunks.
  static func settings(
    of encoder: String, _ video: ChunkPlan.Video, _ chunks: [[String: String]], _ resources: Resources, _ work: Work
  ) throws -> [String: String] {
    var settings = joined(threads[encoder] ?? [:], video.settings)
    guard let name = level[encoder], !(video.settings["option-string"] ?? "").contains("\(name)=") else {
      return settings
    }
    // Use the chunk with the highest bit rate, because its level suffices for all chunks.
    func rate(_ chunk: [String: String]) -> Int { chunk["bitrate"].flatMap { Int($0) } ?? 0 }
    let highest = chunks.max { rate($0) < rate($1) } ?? [:]
    if Set(chunks.map(rate)).count > 1,
      let level = try level(video, joined(settings, highest), resources, work)
    {
      settings = joined(["option-string": "\(name)=\(level)"], settings)
    }
    return settings
  }

  /// Merges settings; values in `second` win. Two option strings are joined with a colon, and the
  /// encoder uses the last value of each option, so `second` wins there too.
  private static func joined(_ first: [String: String], _ second: [String: String]) -> [String: String] {
    let strings = [first, second].compactMap { $0[string] }
    return first.merging(second) { $1 }.merging(strings.isEmpty ? [:] : [string: strings.joined(separator: ":")]) { $1 }
  }

  /// Property that contains all options of an encoder in one string.
  private static let string = "option-string"

  /// Finds the level that the encoder writes for these settings, by encoding one black frame. The
  /// level does not depend on the content of the frames. nil if the level can't be found.
  private static func level(
    _ video: ChunkPlan.Video, _ settings: [String: String], _ resources: Resources, _ work: Work
  ) throws -> String? {
    guard let raw = Caps(video.caps), let size = raw.frameSize,
      let file = TemporaryFile(in: resources.spoolDirectory, mode: 0o600)
    else { return nil }
    let target = "the codec header of the chunks"
    var stream = EncodingPipeline.Stream(name: video.name, caps: raw)
    stream.encoderOptions = settings
    let pipeline = try EncodingPipeline(
      EncodingPipeline.Contents(description: video.encoding, videos: [stream], audio: [], encoder: video.encoder) {
        try $0.write(to: file.path)
      }, for: target, work.cancellation)
    defer { pipeline.close() }
    try pipeline.start()
    let black = try Buffer(size: size) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
    black.stamp(pts: .zero, duration: video.step)
    try pipeline.push(black, to: pipeline.videos[0])
    pipeline.end(pipeline.videos[0])
    _ = try pipeline.finish(.init(videos: [.init(count: 1)]))
    return Caps(try PacketFile(path: file.path).content(for: target, work.cancellation).caps)?.string("level")
  }
}
