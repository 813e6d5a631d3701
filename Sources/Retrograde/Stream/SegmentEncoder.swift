import Containers
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine
import Synchronization
import Paths

/// Encodes ranges of one stream independently of each other. One header (sample description)
/// applies to all ranges.
struct SegmentEncoder: Sendable {
  /// Packet from the encoder.
  struct Packet {
    var bytes: [UInt8]
    /// Presentation time, from the start of the encoded range.
    var time: ClockTime
    var isKeyframe: Bool
  }

  /// Header that applies to all ranges; it comes from a single run of the encoder.
  struct Header: Sendable {
    /// Caps of the packets.
    let caps: Caps
    /// Body of MP4's `stsd` box.
    var description: [UInt8]
    /// Number of priming sample frames of an audio encoder.
    let priming: Int

    /// Codec string of RFC 6381.
    var codecs: String {
      let data = caps.buffer("codec_data") ?? []
      func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
      switch caps.mediaType {
      case "video/x-h264": return "avc1." + data.dropFirst().prefix(3).map(hexadecimal).joined()
      // The first five bits of the AudioSpecificConfig are the audio object type (ISO/IEC 14496-3,
      // 1.6.2.1).
      case "audio/mpeg": return "mp4a.40.\((data.first ?? 16) >> 3)"
      case "video/x-h265": return HEVCConfiguration(data)?.codecs ?? "hvc1"
      case "video/x-vp9": return VP9Configuration(description)?.codecs ?? "vp09"
      default: return "alac"
      }
    }
  }

  /// Encoding pipeline in `gst-launch-1.0` syntax, up to the element that outputs the packets.
  let description: String
  let stream: EncodingPipeline.Stream
  let kind: StreamKind
  /// Name of the source in messages.
  let name: String
  let resources: Resources

  /// - Parameters:
  ///   - ending: elements that receive the packets, in `gst-launch-1.0` syntax.
  ///   - priming: number of priming sample frames; nil to measure it.
  ///   - prepare: called before the pipeline starts; returns the path of the written file, empty if
  ///     there is none.
  ///   - give: pushes frames or samples into the pipeline, and returns the number and the time span
  ///     of the pushed frames or samples.
  private func run(
    _ ending: [String], _ cancellation: Cancellation, priming: Int?,
    prepare: @escaping @Sendable (Pipeline) throws -> String,
    _ give: (EncodingPipeline, AppSource) throws -> MuxedCount.PushedData
  ) throws -> (given: MuxedCount.PushedData, priming: Int) {
    let isVideo = kind == .video
    var contents = EncodingPipeline.Contents(
      description: ([description] + ending).joined(separator: " ! "), videos: isVideo ? [stream] : [],
      audio: isVideo ? [] : [stream], prepare: prepare)
    contents.hasEditLists = true
    contents.priming = priming.map { AudioPriming(leadIn: .zero, samples: [$0]) }
    let pipeline = try EncodingPipeline(contents, for: name, cancellation)
    defer { pipeline.close() }
    try pipeline.start()
    let source = isVideo ? pipeline.videos[0] : pipeline.audio[0]
    let given = try give(pipeline, source)
    pipeline.end(source)
    _ = try pipeline.finish(isVideo ? .init(videos: [given]) : .init(audio: [given]))
    return (given, pipeline.priming.samples.first ?? 0)
  }

  /// Encodes the frames or samples that `give` pushes.
  ///
  /// - Parameters:
  ///   - header: header that applies to all ranges.
  ///   - take: gets each packet on a thread of the pipeline. If `take` throws, it gets no more
  ///     packets, and this function throws the error after `give` has returned.
  /// - Returns: number and time span of the pushed frames or samples.
  func encode(
    _ header: Header, _ cancellation: Cancellation,
    _ give: (EncodingPipeline, AppSource) throws -> MuxedCount.PushedData,
    take: @escaping @Sendable (Packet) throws -> Void
  ) throws -> MuxedCount.PushedData {
    let failure = Mutex<(any Error)?>(nil)
    let name = name
    let isFirst = Atomic(true)
    @Sendable func pass(_ buffer: Buffer, _ pad: Pad) throws {
      guard let time = buffer.pts.map({ pad.segment.streamTime(of: $0) }) else { return }
      if isFirst.exchange(false, ordering: .relaxed),
        pad.caps?.buffer("codec_data") != header.caps.buffer("codec_data")
      {
        throw RetrogradeError(
          .internalFailure, about: name,
          "can't be made into segments: the encoder produced different headers for different segments")
      }
      try take(Packet(bytes: try buffer.withBytes { Array($0) }, time: time, isKeyframe: buffer.isKeyframe))
    }
    do {
      return try run(["fakesink name=packets sync=false"], cancellation, priming: header.priming) { pipeline in
        pipeline.element("packets")?.staticPad("sink")?.watchBuffers { buffer, pad in
          guard failure.withLock({ $0 == nil }) else { return }
          do { try pass(buffer, pad) } catch { failure.withLock { $0 = error } }
        }
        return ""
      } _: { pipeline, source in
        let given = try give(pipeline, source)
        if let error = failure.withLock({ $0 }) { throw error }
        return given
      }.given
    } catch {
      throw failure.withLock { $0 } ?? error
    }
  }

  /// Obtains the header by encoding one video frame, or 8192 audio sample frames, with all bytes 0.
  func header(_ cancellation: Cancellation) throws -> Header {
    guard let written = TemporaryFile(in: resources.spoolDirectory, mode: 0o600) else {
      throw RetrogradeError(
        .inputOutput, about: resources.spoolDirectory, "no temporary file can be created here",
        remedy: "set TMPDIR to a folder that you may write to")
    }
    defer { if let name = written.name { unlink(name.cPath) } }
    let (_, priming) = try run(PacketFile.writing, cancellation, priming: nil) {
      try $0.write(to: written.path)
    } _: { pipeline, source in
      let buffer = try empty
      try pipeline.push(buffer, to: source)
      return .init(count: kind == .video ? 1 : SegmentEncoder.silence)
    }
    let file = PacketFile(path: written.path)
    guard let caps = Caps(try file.content(for: name, cancellation).caps),
      let description = try sampleDescription(file, cancellation)
    else {
      throw RetrogradeError(
        .internalFailure, about: name, "can't be made into segments: the encoder produced no header")
    }
    return Header(caps: caps, description: description, priming: priming)
  }

  private static let silence = 8192

  private var empty: Buffer {
    get throws {
      let size =
        kind == .video ? stream.caps.frameSize : stream.caps.bytesPerSampleFrame.map { $0 * SegmentEncoder.silence }
      let buffer = try Buffer(size: size ?? 0) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
      let rate = stream.caps.int("rate")
      buffer.stamp(
        pts: .zero, duration: rate.map { ClockTime(sampleIndex: SegmentEncoder.silence, rate: $0) } ?? .milliseconds(40)
      )
      return buffer
    }
  }

  /// Returns the body of the `stsd` box (sample description) that `mp4mux` writes for the packets;
  /// nil if no temporary file can be created, or `mp4mux` writes no such box.
  private func sampleDescription(_ packets: PacketFile, _ cancellation: Cancellation) throws -> [UInt8]? {
    guard let file = TemporaryFile(in: resources.spoolDirectory, mode: 0o600) else { return nil }
    defer { if let name = file.name { unlink(name.cPath) } }
    do {
      let pipeline = try Pipeline(
        "mp4mux name=mux fragment-duration=1000 streamable=true ! filesink location=\(Description.quoted(file.path)) "
          + "filesrc location=\(Description.quoted(packets.path)) ! gdpdepay name=packets ! mux.\(kind == .video ? "video_0" : "audio_0")"
      )
      defer { pipeline.set(.null) }
      EncodingPipeline.nameChromaSite(pipeline.element("packets"))
      pipeline.set(.playing)
      waiting: while true {
        try cancellation.check()
        switch pipeline.nextMessage(timeout: .milliseconds(100)) {
        case .endOfStream: break waiting
        case .failed(let error): throw error
        default: break
        }
      }
    } catch let error as GStreamerError {
      throw RetrogradeError.writing(name, error)
    }
    guard let bytes = RandomAccessFile(file.path), let movie = bytes.boxes.first(where: { $0.type == "moov" }),
      let body = bytes.read(movie.body),
      let table = body.box("trak", "mdia", "minf", "stbl", "stsd", in: 0..<body.count)
    else { return nil }
    return Array(body[table])
  }
}
