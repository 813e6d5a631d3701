import MediaTime
package import RetrogradeEngine

/// A source in its order of play, as segments of fragmented MP4 (CMAF), each of which is made when it is
/// asked for.
///
/// The content is that of a file from ``Reverser``: the same frames at the same times, the same samples.
/// Everything may be asked for in any order and from several threads at once; each call blocks until it is
/// done, and is to be made on a thread that may.
package final class SegmentedMirror: Sendable {
  /// The videos first, the highest of them before the others, and of the same height the one in the source's codec last.
  package let renditions: [Rendition]
  /// How long the output is.
  package let duration: ClockTime
  /// When each frame of the output is shown, as the segments have it, ascending; none: there is no video.
  package let frameStarts: [ClockTime]
  /// The same, as the source has it, to the nanosecond.
  package var frameTimes: [ClockTime] { videos.first?.cuts.shown.map(\.start) ?? [] }
  package let chapters: [Chapter]
  package let subtitles: [Subtitles]
  /// Warnings about promises of the source that the output does not keep, as far as its index tells.
  package let warnings: [Warning]

  private let name: String
  private let gauge: MemoryGauge
  private let source: PlayableSource
  private let videos: [VideoSegments]
  private let audio: [AudioSegments]
  private let pictures: MirrorPictures?

  /// Opens and indexes a source.
  ///
  /// - Parameters:
  ///   - path: of a file.
  ///   - cancellation: ends it.
  ///   - progress: told how far the index is.
  /// - Throws: ``RetrogradeError``, or `CancellationError`.
  package init(
    _ path: String, _ settings: Settings = Settings(), _ cancellation: Cancellation,
    progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }
  ) throws {
    try settings.check(path)
    name = path
    let work = Work(cancellation) { progress(IndexProgress(position: $0.position, end: $0.duration)) }
    gauge = work.gauge
    var options = ReverseOptions(playback: settings.playback, resources: settings.resources)
    options.playback.streams = settings.playback.streams ?? .streamed
    let source = try PlayableSource.open([path], options, work, purpose: .watching)
    self.source = source
    let legs = source.legs.all
    try settings.check(path, source)
    let played = source.video.map { PlayedFrames($0, source.legs, settings.playback.timing) }
    let cuts = played.flatMap { played in
      played.frames.isEmpty
        ? nil
        : SegmentCuts(
          played, target: settings.target,
          timescale: VideoTimescale.units(for: source.video?.caps.fraction("framerate")))
    }
    let length = source.legs.duration ?? .zero
    let starts = cuts?.all.map(\.start) ?? settings.starts(until: length)
    // Each waits for an encoder to begin and end.
    let heard = try Worker("audio headers") {
      try SegmentedMirror.audio(of: source, starts, path, settings, cancellation)
    }
    let videos = Result { try SegmentedMirror.videos(of: source, cuts, path, settings, cancellation) }
    let (audio, refused) = try heard.join()
    self.audio = audio
    self.videos = try videos.get()
    guard !self.videos.isEmpty || !audio.isEmpty else {
      throw refused.first
        ?? RetrogradeError(.damagedInput, about: path, "has no video and no audio that could be played")
    }
    renditions = self.videos.map(\.rendition) + audio.map(\.rendition)
    duration = length
    frameStarts = cuts?.starts ?? []
    pictures = source.video.flatMap { video in
      played.map { MirrorPictures(source, video, $0, settings, name: path) }
    }
    chapters = Chapter.played(source.index.chapters, legs)
    subtitles = source.index.subtitles.compactMap { track in
      SubtitleFile.webText(of: track, legs).map {
        Subtitles(language: track.tags?.string("language-code"), title: track.tags?.string("title"), text: $0)
      }
    }
    warnings =
      source.warnings
      + refused.map { Warning(.streamLeftOut, "left out: an audio stream (\($0.message))") }
  }

  private static func videos(
    of source: PlayableSource, _ cuts: SegmentCuts?, _ path: String, _ settings: Settings, _ cancellation: Cancellation
  ) throws -> [VideoSegments] {
    guard let video = source.video, let cuts else { return [] }
    let makers = try settings.heights(of: video).flatMap { height in
      let size = try settings.geometry(of: video, Framing(scale: .height(height))).shown
      let codecs =
        settings.isLossless
        ? [.h264] : SegmentCodec.all(for: video, pixels: size.width * size.height, frameRate: cuts.frameRate)
      return try codecs.map { codec in
        try Worker("video header") {
          try VideoSegments(source, video, codec, height: height, cuts, path, settings, cancellation)
        }
      }
    }
    return try makers.map { maker in Result { try maker.join() } }.map { try $0.get() }
  }

  /// - Parameter starts: when segments are wanted to begin.
  /// - Returns: with it why streams are not among them.
  private static func audio(
    of source: PlayableSource, _ starts: [ClockTime], _ path: String, _ settings: Settings,
    _ cancellation: Cancellation
  ) throws -> (audio: [AudioSegments], refused: [RetrogradeError]) {
    var audio: [AudioSegments] = []
    var refused: [RetrogradeError] = []
    for track in source.audio {
      let name = audio.isEmpty ? "audio" : "audio-\(audio.count)"
      do {
        let more = try AudioSegments(source, track, starts, called: name, of: path, settings, cancellation)
        audio += [more].compactMap { $0 }
      } catch let error as RetrogradeError where error.code == .usage {
        refused.append(error)
      }
    }
    return (audio, refused)
  }

  /// Decoded media held now, by all work under way.
  package var memoryHeld: ByteCount { ByteCount(gauge.now) }

  /// The initialization segment of a rendition: `ftyp` and `moov`.
  /// - Throws: ``RetrogradeError``, of code `usage` where there is no such rendition; or `CancellationError`.
  package func initialization(_ rendition: Int, _ cancellation: Cancellation) throws -> [UInt8] {
    try check(rendition)
    try cancellation.check()
    return rendition < videos.count
      ? videos[rendition].initialization : audio[rendition - videos.count].initialization
  }

  /// How many pieces segment `number` of a rendition has, from each of which on it can be had: of a video, each about ``pieceLength`` long. 0 where
  /// there is no such segment.
  package func pieces(ofSegment number: Int, of rendition: Int) -> Int {
    guard renditions.indices.contains(rendition), renditions[rendition].segments.indices.contains(number) else {
      return 0
    }
    return rendition < videos.count ? videos[rendition].pieces(of: number) : 1
  }

  package static var pieceLength: ClockTime { SegmentCuts.piece }

  /// Segment `number` of a rendition, counted from 0: `moof` and `mdat`, once or more often.
  ///
  /// - Parameters:
  ///   - piece: with which of its pieces to begin, counted from 0. What begins later is made sooner.
  ///   - take: gets it bit by bit, as it is made, from one thread after the other.
  /// - Throws: ``RetrogradeError``, of code `usage` where there is no such segment or piece; or `CancellationError`. What was given out until then is
  ///   not all.
  package func segment(
    _ number: Int, from piece: Int = 0, of rendition: Int, _ cancellation: Cancellation,
    _ take: @escaping @Sendable ([UInt8]) -> Void
  ) throws {
    try check(rendition)
    guard renditions[rendition].segments.indices.contains(number) else {
      throw RetrogradeError(
        .usage, about: name,
        "segment \(number) of \(renditions[rendition].name): there are \(renditions[rendition].segments.count), counted from 0"
      )
    }
    let pieces = pieces(ofSegment: number, of: rendition)
    guard (0..<pieces).contains(piece) else {
      throw RetrogradeError(
        .usage, about: name,
        "piece \(piece) of segment \(number) of \(renditions[rendition].name): there are \(pieces), counted from 0")
    }
    guard rendition < videos.count else { return take(try audio[rendition - videos.count].make(number, cancellation)) }
    try DecodedMemory.during { try videos[rendition].make(number, from: piece, cancellation, take) }
  }

  private func check(_ rendition: Int) throws {
    guard renditions.indices.contains(rendition) else {
      throw RetrogradeError(
        .usage, about: name, "rendition \(rendition): there are \(renditions.count), counted from 0")
    }
  }

  /// The picture on show at a time of the output, as JPEG.
  ///
  /// - Parameters:
  ///   - time: a time before the start or past the end is taken for the first frame, and the last.
  ///   - height: in pixels, 16 to 2160; the width follows.
  ///   - isExact: whether it has to be that frame: else it may be the keyframe nearest to it, which is found
  ///     faster.
  /// - Throws: ``RetrogradeError``, of code `usage` where there is no video; or `CancellationError`.
  package func picture(
    at time: ClockTime, height: Int, isExact: Bool = true, _ cancellation: Cancellation
  ) throws -> [UInt8] {
    guard let pictures else { throw RetrogradeError(.usage, about: name, "has no video, and so no picture") }
    return try DecodedMemory.during {
      try pictures.picture(at: time, height: height, isExact: isExact, cancellation)
    }
  }

  /// How loud the first audio stream is along the output: the greatest magnitude of any sample of any channel, 0 to 1, in some of the
  /// equal parts of it; empty where there is no audio.
  ///
  /// - Parameters:
  ///   - points: of which parts.
  ///   - count: how many there are in all, 1 to 100000.
  /// - Throws: ``RetrogradeError``; or `CancellationError`.
  package func waveform(_ points: Range<Int>, of count: Int, _ cancellation: Cancellation) throws -> [Float] {
    guard (1...100_000).contains(count), (0...count).contains(points.upperBound), points.lowerBound >= 0 else {
      throw RetrogradeError(
        .usage, about: name, "points \(points) of a waveform of \(count): a waveform has 1 to 100000 points")
    }
    guard let track = source.audio.first else { return [] }
    return try Waveform(track, source.heard, duration, points, of: count, cancellation).peaks
  }
}

extension StreamSelection {
  /// Streams that are streamed: only one of the videos.
  fileprivate static let streamed = StreamSelection(parsing: "video:0,audio,subtitles,chapters")
}
