import MediaTime
package import RetrogradeEngine

/// Source in its order of play (reversed, for example), as segments of fragmented MP4 (CMAF). Each
/// segment is made on request.
///
/// The segments have the same frames, timestamps and samples as a file from ``Reverser``. Requests
/// can be made in any order and from several threads at once. Calls block until the work is done,
/// so make them only on threads that may block.
package final class SegmentedMirror: Sendable {
  /// Renditions: videos first, by descending height. At the same height, H.264 precedes the
  /// source's codec.
  package let renditions: [Rendition]
  /// Length of the output.
  package let duration: ClockTime
  /// Start of each output frame, rounded to the track's timescale as in the segments, ascending;
  /// empty if there is no video.
  package let frameStarts: [ClockTime]
  /// Start of each output frame, computed from the source's timestamps, exact to the nanosecond.
  package var frameTimes: [ClockTime] { videos.first?.cuts.shown.map(\.start) ?? [] }
  package let chapters: [Chapter]
  package let subtitles: [Subtitles]
  /// Warnings about details of the source that the output lacks or changes, as far as the index
  /// shows. Damage that appears only during decoding is not included.
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
  ///   - path: path of the source file.
  ///   - cancellation: cancels the indexing.
  ///   - progress: gets the progress of the indexing.
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
    // Obtain the headers of audio and video in parallel, because each header needs a run of an
    // encoder.
    let heard = try Worker("audio headers") {
      try SegmentedMirror.audio(of: source, starts, path, settings, cancellation)
    }
    let videos = Result { try SegmentedMirror.videos(of: source, cuts, path, settings, cancellation) }
    let (audio, refused) = try heard.join()
    self.audio = audio
    self.videos = try videos.get()
    guard !self.videos.isEmpty || !audio.isEmpty else {
      throw refused.first
        ?? RetrogradeError(.damagedInput, about: path, "contains no video or audio that could be played")
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

  /// - Parameter starts: preferred start times of segments.
  /// - Returns: the audio streams, and the reasons why other audio streams are left out.
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

  /// Size of the decoded media in memory now, for all running calls.
  package var memoryHeld: ByteCount { ByteCount(gauge.now) }

  /// Returns the initialization segment of a rendition: `ftyp` and `moov`.
  /// - Throws: `CancellationError`; or ``RetrogradeError``, of code `usage` if there is no such
  ///   rendition.
  package func initialization(_ rendition: Int, _ cancellation: Cancellation) throws -> [UInt8] {
    try check(rendition)
    try cancellation.check()
    return rendition < videos.count
      ? videos[rendition].initialization : audio[rendition - videos.count].initialization
  }

  /// Returns the number of fragments in segment `number` of a rendition; 0 if there is no such
  /// segment. Delivery can start at any fragment. Fragments of video are about ``pieceLength``
  /// long; an audio segment is one fragment.
  package func pieces(ofSegment number: Int, of rendition: Int) -> Int {
    guard renditions.indices.contains(rendition), renditions[rendition].segments.indices.contains(number) else {
      return 0
    }
    return rendition < videos.count ? videos[rendition].pieces(of: number) : 1
  }

  package static var pieceLength: ClockTime { SegmentCuts.piece }

  /// Makes segment `number` (counted from 0) of a rendition: one or more pairs of `moof` and
  /// `mdat`.
  ///
  /// - Parameters:
  ///   - piece: first fragment to deliver, counted from 0. Earlier fragments are not encoded, so
  ///     delivery begins sooner.
  ///   - take: gets the bytes in several blocks, as they are made; called from several threads, one
  ///     at a time.
  /// - Throws: `CancellationError`; or ``RetrogradeError``, of code `usage` if there is no such
  ///   segment or fragment. The bytes delivered before an error are incomplete.
  package func segment(
    _ number: Int, from piece: Int = 0, of rendition: Int, _ cancellation: Cancellation,
    _ take: @escaping @Sendable ([UInt8]) -> Void
  ) throws {
    try check(rendition)
    guard renditions[rendition].segments.indices.contains(number) else {
      throw RetrogradeError(
        .usage, about: name,
        "segment \(number) of \(renditions[rendition].name) does not exist: there are "
          + "\(renditions[rendition].segments.count), counted from 0"
      )
    }
    let pieces = pieces(ofSegment: number, of: rendition)
    guard (0..<pieces).contains(piece) else {
      throw RetrogradeError(
        .usage, about: name,
        "segment \(number) of \(renditions[rendition].name) has no fragment \(piece): it has \(pieces), counted from 0")
    }
    guard rendition < videos.count else { return take(try audio[rendition - videos.count].make(number, cancellation)) }
    try DecodedMemory.during { try videos[rendition].make(number, from: piece, cancellation, take) }
  }

  private func check(_ rendition: Int) throws {
    guard renditions.indices.contains(rendition) else {
      throw RetrogradeError(
        .usage, about: name, "rendition \(rendition) does not exist: there are \(renditions.count), counted from 0")
    }
  }

  /// Returns the frame shown at a time of the output, as JPEG.
  ///
  /// - Parameters:
  ///   - time: times before the start select the first frame, times past the end the last one.
  ///   - height: in pixels, 16 to 2160; the aspect ratio determines the width.
  ///   - isExact: true for exactly the frame at `time`; false for the nearest keyframe, which is
  ///     faster.
  /// - Throws: `CancellationError`; or ``RetrogradeError``, of code `usage` if there is no video or
  ///   `height` is out of range.
  package func picture(
    at time: ClockTime, height: Int, isExact: Bool = true, _ cancellation: Cancellation
  ) throws -> [UInt8] {
    guard let pictures else { throw RetrogradeError(.usage, about: name, "has no video, so there is no picture of it") }
    return try DecodedMemory.during {
      try pictures.picture(at: time, height: height, isExact: isExact, cancellation)
    }
  }

  /// Returns the waveform of the first audio stream, as peaks; empty if there is no audio. The
  /// output is divided into `count` equal intervals, called points. The peak of a point is the
  /// largest magnitude, 0 to 1, of all samples of all channels in that interval.
  ///
  /// - Parameters:
  ///   - points: range of points to analyse.
  ///   - count: number of points in the complete output, 1 to 100000.
  /// - Throws: ``RetrogradeError`` or `CancellationError`.
  package func waveform(_ points: Range<Int>, of count: Int, _ cancellation: Cancellation) throws -> [Float] {
    guard (1...100_000).contains(count), (0...count).contains(points.upperBound), points.lowerBound >= 0 else {
      throw RetrogradeError(
        .usage, about: name,
        "the waveform points \(points) of \(count) are invalid: a waveform has 1 to 100000 points, counted from 0")
    }
    guard let track = source.audio.first else { return [] }
    return try Waveform(track, source.audioLegs, duration, points, of: count, cancellation).peaks
  }
}

extension StreamSelection {
  /// Streams that are selected by default: the first video, all audio, subtitles and chapters.
  fileprivate static let streamed = StreamSelection(parsing: "video:0,audio,subtitles,chapters")
}
