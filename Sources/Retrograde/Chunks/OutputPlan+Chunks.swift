import Containers
import GStreamer
import MediaTime
import RetrogradeEngine

extension OutputPlan {
  /// Plans this output in chunks.
  ///
  /// - Parameters:
  ///   - input: path of the source.
  /// - Throws: ``RetrogradeError`` of code `usage` if chunks are impossible or unnecessary.
  func chunks(
    of input: String, _ identity: ChunkPlan.SourceIdentity, _ length: ChunkLength, _ work: Work
  ) throws -> ChunkPlan {
    if let why = obstacle {
      throw RetrogradeError(
        .usage, about: output, "can't be encoded in chunks: \(why)", remedy: "leave out \(setting: .work)")
    }
    try checkLength()
    let contents = contents("")
    let description = EncodingDescription(path: "", choice: choice)
    var chunks: [ChunkPlan.Chunk] = []
    var streams: [ChunkPlan.Video] = []
    for (number, video) in videos.enumerated() {
      let frame = choice.videos[number]
      guard let codec = frame.codec, let encoder = codec.encoder else { continue }
      let pieces = ChunkCuts(video, source.legs, options.playback.timing).pieces(
        length, isWhole: video.store != nil)
      let rates = try ChunkRates(video, frame, encoder, meanSpeed: source.legs.meanSpeed, options)
      let parts = try pieces.map { piece in
        ChunkPlan.Chunk(
          kind: .video, stream: number, span: piece.span, source: piece.source, frames: piece.frames,
          settings: try rates.settings(for: piece), bytes: rates.bytes(of: piece))
      }
      let stream = contents.videos[number]
      var made = ChunkPlan.Video(
        name: stream.name, index: StoredVideoIndex(video.video), caps: stream.caps.description,
        encoding: description.kept(.video, number, PacketOutput.conversion(of: codec, for: choice.container)),
        encoder: contents.encoder, settings: stream.encoderOptions, frames: parts.reduce(0) { $0 + $1.frames },
        step: video.timeline.span(of: 0).duration, disposition: stream.disposition,
        orientation: stream.orientation, fieldOrder: stream.fieldOrder, title: stream.title, comments: stream.comments)
      made.settings = try EncoderHeader.settings(of: encoder, made, parts.map(\.settings), options.resources, work)
      streams.append(made)
      chunks += parts
    }
    let whole = TimeSpan(start: .zero, end: source.legs.duration ?? .zero)
    let sounds = contents.audio.enumerated().map { number, stream in
      ChunkPlan.Audio(
        caps: stream.caps.description, encoding: description.kept(.audio, number, []),
        sampleCount: stream.sampleCount, disposition: stream.disposition, title: stream.title,
        comments: stream.comments)
    }
    // Put audio chunks first: they are long, and a long chunk that starts last would delay the end
    // of the work.
    chunks =
      sounds.indices.map {
        ChunkPlan.Chunk(
          kind: .audio, stream: $0, span: whole, source: source.legs.presentation.span, frames: 0, settings: [:])
      } + chunks
    return ChunkPlan(
      version: ChunkPlan.ownVersion, source: identity, output: output,
      options: .init(options),
      range: source.range, legs: source.legs, videos: streams, audio: sounds,
      subtitles: choice.subtitles.map(ChunkPlan.Subtitles.init), subtitleOutput: try subtitleOutput,
      chapters: contents.chapters, tags: contents.tags?.description, comments: contents.comments,
      mp4Tags: contents.mp4Tags, joining: joining,
      hasEditLists: choice.container.hasEditLists,
      warnings: (source.warnings + choice.warnings + details.unsupportedDetails).unique.map(Notice.init),
      changes: choice.changes.map(StoredCodecChange.init),
      // The date is the source's creation or modification date, so that the output does not depend
      // on the time and the machine of the run.
      origin: FileOrigin(
        seed: ChunkPlan.seed(streams.map(\.index.digest)), date: contents.created ?? identity.modified.first ?? 0),
      chunks: chunks)
  }

  /// Largest number of frames in a plan (155 hours at 30 fps), limited because planning keeps a
  /// list of all frames in memory.
  static let mostPlannedFrames = 1 << 24

  /// - Throws: ``RetrogradeError`` of code `usage` if the output would have more frames than
  ///   `mostPlannedFrames`.
  private func checkLength() throws {
    let length = (source.legs.duration ?? .zero).seconds
    guard videos.contains(where: { length * $0.shown.timeline.frameRate > Double(OutputPlan.mostPlannedFrames) }) else {
      return
    }
    throw RetrogradeError(
      .usage, about: output,
      "can't be encoded in chunks: it would have more than \(OutputPlan.mostPlannedFrames) frames",
      remedy: options.playback.count > 1
        ? "lower \(setting: .count), or leave out \(setting: .work)" : "leave out \(setting: .work)")
  }

  /// Reason why the output can't be made in chunks; nil if chunks are possible.
  private var obstacle: Message? {
    if choice.container.imageFormat != nil { return "it is made of images" }
    if options.soundtrack != nil { return "the plan can't store audio from another file (\(setting: .soundtrack))" }
    if source.legs.frameRate != nil {
      return "\(setting: .frameRate) needs all earlier frames to choose which frames to drop"
    }
    if options.playback.mixesFrames {
      return
        "\(setting: .dissolve) and \(setting: .interpolation) mix neighbouring frames, which may be in different chunks"
    }
    if options.encoding.maxSize != nil { return "\(setting: .maxSize) needs several encodings of the whole output" }
    if choice.videos.isEmpty { return "it has no video" }
    if choice.videos.contains(where: { $0.packets != nil }) {
      return "its packets are reversed without encoding, in seconds, so chunks are not needed"
    }
    if copy != nil { return "\(setting: .copiesForward) joins new packets with those of the source" }
    if drawing.isCode { return "the plan can't store overlays or titles drawn by a program" }
    if choice.container.isOgg { return "Ogg numbers the packets of the whole file in order" }
    if options.encoding.profile != nil {
      return "\(setting: .profile) applies to all streams together, but each chunk contains only one stream"
    }
    if choice.videos.contains(where: { $0.codec?.encoder == nil }) { return "its video is not encoded" }
    return nil
  }

  private var subtitleOutput: ChunkPlan.SubtitleOutput? {
    get throws {
      guard let path = options.output.subtitles else { return nil }
      let tracks = source.index.subtitles
      try SubtitleFile.check(path, has: tracks)
      return try SubtitleFile.track(of: tracks).map {
        ChunkPlan.SubtitleOutput(path: try absolutePath(path), subtitles: ChunkPlan.Subtitles($0))
      }
    }
  }

  /// Pipeline that joins the packets of all streams, in `gst-launch-1.0` syntax.
  private var joining: String {
    var joined = choice
    for number in joined.videos.indices {
      guard let codec = joined.videos[number].codec else { continue }
      joined.videos[number].packets = PacketForm(given: codec.caps, taken: codec.caps, conversion: [])
    }
    let description = EncodingDescription(path: "", choice: joined)
    return EncodingDescription(
      path: "", choice: joined, videos: videos.enumerated().map { description.written($0, $1.video.tags) },
      audio: audio.map(\.tags), copiesAudio: true
    ).text
  }
}

/// Bit rate of each chunk, in proportion to the source's bit rate in the range that the chunk
/// plays.
struct ChunkRates {
  private let video: VideoSource
  private let frame: EncodingChoice.VideoChoice
  private let encoder: String
  /// Average speed: number of seconds of the source that are played per second of the output.
  private let meanSpeed: Double
  private let options: ReverseOptions
  private let raw: Caps
  /// Time of each packet's frame.
  private let times: [ClockTime]
  /// For each packet, the number of bytes up to and including that packet.
  private let bytes: [Int]

  /// Largest factor between a chunk's bit rate and the average bit rate, up or down. Without a
  /// lower limit, a one-pass encoder would have too few bits for the first frames of a chunk.
  private static let most = 8.0

  init(
    _ video: VideoSource, _ frame: EncodingChoice.VideoChoice, _ encoder: String, meanSpeed: Double,
    _ options: ReverseOptions
  ) throws {
    self.video = video
    self.meanSpeed = meanSpeed
    self.frame = frame
    self.encoder = encoder
    self.options = options
    raw = frame.geometry?.caps ?? video.caps
    let sizes = video.video.sizes
    times = sizes.map(\.time)
    var sum = 0
    bytes = sizes.map { size in
      sum += size.bytes
      return sum
    }
  }

  /// Returns the approximate size of the chunk `piece` in bytes; nil if the encoder uses constant
  /// quality.
  func bytes(of piece: ChunkCuts.Piece) -> Int? {
    frame.bitrate.map { Int(min(Double(rate(for: piece) ?? $0) / 8 * piece.span.duration.seconds, 1e18)) }
  }

  /// Returns the bit rate of the chunk `piece` in bits per second; nil if the source's bit rate is
  /// unknown, or if the encoder uses constant quality.
  private func rate(for piece: ChunkCuts.Piece) -> Int? {
    guard let whole = frame.bitrate, let total = bytes.last, total > 0, let length = video.video.duration,
      length > .zero, piece.span.duration > .zero
    else { return nil }
    let own = Double(sum(before: piece.source.end) - sum(before: piece.source.start))
    let share = own / piece.span.duration.seconds / (Double(total) / length.seconds * meanSpeed)
    let rate = Double(whole) * min(max(share, 1 / ChunkRates.most), ChunkRates.most)
    // Limit the rate to 1 Pbit/s, more than any video needs, so that it fits into an `Int`.
    return Int(min(max(rate, 1000), 1e15))
  }

  /// Returns the encoder properties of the chunk `piece` that differ from the properties of the
  /// whole video.
  func settings(for piece: ChunkCuts.Piece) throws -> [String: String] {
    guard let rate = rate(for: piece) else { return [:] }
    var asked = options.encoding
    asked.bitrate = rate
    let settings = try EncoderSettings(
      options: asked, sourceBitrate: nil, frameRate: video.shown.timeline.frameRate
    ).video(encoder, raw)
    let known = Dictionary(frame.settings.map { ($0.name, $0.value) }) { $1 }
    return Dictionary(
      settings.filter { known[$0.name] != nil && known[$0.name] != $0.value }.map { ($0.name, $0.value) }
    ) { $1 }
  }

  private func sum(before time: ClockTime) -> Int {
    let packets = times.endOfPrefix { $0 < time }
    return packets > 0 ? bytes[packets - 1] : 0
  }
}
