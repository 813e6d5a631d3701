import Containers
import GStreamer
import RetrogradeEngine

/// Header values that the muxer does not write, and that are therefore written into the finished
/// file. The values come from the data that reached the muxer, not from the planned streams.
struct FinishedHeader: Sendable {
  private enum Format: String {
    case mp4 = "MP4"
    case matroska = "Matroska"
    case mp3 = "MP3"
    case wave = "WAVE"
  }

  /// Number of priming sample frames of each audio stream.
  let priming: [Int]
  private let contents: EncodingPipeline.Contents
  /// Format of the header to complete; nil if the muxer's header is complete.
  private let format: Format?

  init(_ pipeline: Pipeline, _ contents: EncodingPipeline.Contents, priming: [Int]) {
    self.contents = contents
    self.priming = priming
    format =
      if pipeline.hasMuxer(of: "video/quicktime") {
        .mp4
      } else if pipeline.hasMuxer(of: "video/x-matroska; video/webm; audio/x-matroska; audio/webm") {
        .matroska
      } else if pipeline.hasMuxer(of: "audio/x-wav") {
        .wave
      } else {
        pipeline.elements(ofFactory: "xingmux").isEmpty ? nil : .mp3
      }
  }

  /// - Parameters:
  ///   - target: final name of the output, for messages; `path` may be a temporary name.
  ///   - videos: frames of each video that reached the muxer.
  ///   - audio: sample frames of each audio stream that reached the muxer.
  /// - Returns: warnings about details that did not fit in the file.
  func apply(
    to path: String, for target: String, _ videos: [MuxedCount.MuxedData], _ audio: [MuxedCount.MuxedData]
  ) throws -> [Warning] {
    Log.write.info("\(target): finishes the header of \(format?.rawValue ?? "nothing: its muxer wrote all there is")")
    do {
      switch format {
      case .mp4:
        let header = mp4(videos, audio)
        if try header.apply(to: path) { return Warning.notHeld(contents.chapters, by: .mp4, until: contents.duration) }
        return (contents.chapters.isEmpty ? [] : [.noChapters]) + (contents.hasTitles ? [.noTitles] : [])
          + noComments
      case .matroska: if try !matroska(videos).apply(to: path) { return noComments }
      case .mp3:
        guard let priming = priming.first, let written = audio.first, let given = contents.rates.first, given > 0 else {
          return []
        }
        // Convert the counts, which are at the source's sample rate, to the file's rate: MP3 has at
        // most 48 kHz.
        let scale = Double(written.caps?.int("rate") ?? given) / Double(given)
        func scaled(_ count: Int) -> Int { Int((Double(count) * scale).rounded()) }
        try MP3Header(priming: scaled(priming), presentedSamples: scaled(written.count)).apply(to: path)
      case .wave:
        try contents.audio.first?.caps.channelMask.flatMap { WAVEMask(places: $0) }?.apply(to: path)
        let chunks = contents.waveChunks
        return try chunks.isEmpty || WAVEChunks.add(chunks, to: path) ? [] : [.noSpace(for: chunks)]
      case nil: break
      }
    } catch let error as FileError {
      throw RetrogradeError(finishing: target, error)
    }
    return []
  }

  /// Warning about comments that do not fit: other data follows the header in the file, so the
  /// header can't grow.
  private var noComments: [Warning] {
    let names = contents.comments.compactMap { NamedTag(comment: $0)?.name }.unique
    guard !names.isEmpty else { return [] }
    return [
      Warning(
        .detailLeftOut,
        "left out: the tag\(names.count == 1 ? "" : "s") \(names.joined(separator: ", ")), since the output's header has "
          + "no room left",
        count: names.count)
    ]
  }

  /// Creation time of the source; if unknown, the date that is set for an output in chunks.
  private var date: Int? { contents.created ?? contents.origin?.date }

  private func matroska(_ videos: [MuxedCount.MuxedData]) -> MatroskaHeader {
    MatroskaHeader(
      videos: zip(contents.videos, videos).map { $0.matroskaTrack($1.caps) },
      audio: contents.audio.map { $0.matroskaTrack() },
      subtitles: contents.texts.map { $0.matroskaTrack() },
      date: date, comments: contents.comments.compactMap { NamedTag(comment: $0) },
      unquoted: GStreamer.unquoted)
  }

  private func mp4(_ videos: [MuxedCount.MuxedData], _ audio: [MuxedCount.MuxedData]) -> MP4Header {
    var header = MP4Header(chapters: contents.chapters.map { ChapterMark(start: $0.span.start, title: $0.title) })
    header.date = date
    let named = contents.mp4Tags.compactMap { tag in tag.text.map { (NamedTag(name: tag.name, text: $0), tag) } }
    let known = Dictionary(named) { first, _ in first }
    header.tags = contents.comments.compactMap { NamedTag(comment: $0) }.map { known[$0] ?? MP4Tag($0) }
    header.titles = [
      .video: contents.videos.map(\.title), .audio: contents.audio.map(\.title),
      .subtitles: contents.texts.map(\.title),
    ]
    header.videos = zip(contents.videos, videos).map {
      .init(orientation: $0.orientation, duration: $1.span?.duration, isEnabled: $0.disposition?.isDefault)
    }
    header.audio = zip(contents.audio, zip(zip(priming, audio), contents.rates)).map {
      .init(priming: $1.0.0, presentedSamples: $1.0.1.count, rate: $1.1, isEnabled: $0.disposition?.isDefault)
    }
    header.subtitles = contents.texts.map { $0.disposition?.isDefault }
    return header
  }
}

extension Pipeline {
  /// True if a muxer of the pipeline writes one of `formats`, which are in caps syntax.
  func hasMuxer(of formats: String) -> Bool {
    guard let formats = Caps(formats) else { return false }
    return elements(ofClass: "Muxer").contains { $0.staticPad("src")?.possibleCaps?.intersects(formats) ?? false }
  }
}

extension EncodingPipeline.Stream {
  /// - Parameter muxed: caps at the muxer.
  fileprivate func matroskaTrack(_ muxed: Caps? = nil) -> MatroskaHeader.Track {
    let pixel = caps.fraction("pixel-aspect-ratio").map { (width: $0.numerator, height: $0.denominator) }
    return MatroskaHeader.Track(
      disposition: disposition, fieldOrder: fieldOrder, pixelAspectRatio: pixel,
      luminance: muxed?.masteringDisplay.map { (most: $0[8], least: $0[9]) },
      comments: comments.compactMap { NamedTag(comment: $0) })
  }
}
