package import MediaTime

/// Facts about a file that GStreamer does not report. The facts are read once.
///
/// Each format has its own folder of readers; this type lists all facts from these readers. A
/// fact that GStreamer reports is taken from GStreamer instead.
package struct ContainerFacts: Sendable {
  /// First bytes of the file, at most 1,024.
  package private(set) var beginning: [UInt8] = []
  /// True if files of this format usually contain codecs standardised by MPEG: H.264, HEVC, AAC, or
  /// their predecessors.
  package private(set) var isUsuallyMPEG = false
  /// Size of the file in bytes.
  package private(set) var size = 0
  /// Declarations of the file about its content, and its structural damage. Nil if the format is
  /// unknown, or if there is nothing to report, as for an intact GIF.
  package private(set) var report: ContainerReport?
  /// Tracks of all kinds, in file order. MP4, MOV, Matroska, WebM, AVI and AIFF only.
  package private(set) var tracks: [ContainerTrack] = []
  /// Contents to report to the user, because no output can store them. MP4, MOV, Matroska, WebM,
  /// transport streams, AIFF, ASF, FLAC, PNG, WebP, and audio without a container (such as MP3)
  /// only.
  package private(set) var details: [ContainerDetail] = []
  /// Tags of the whole file that GStreamer's demuxer does not read. MP4, MOV, Matroska, WebM, AIFF,
  /// ASF, AU, AVI, FLV, WAVE, PNG, and audio without a container (such as MP3) only.
  package private(set) var tags: [NamedTag] = []
  /// Tags that apedemux would read. GStreamer may not use apedemux, because typefind prefers an
  /// element for the file's extension, such as `.tta`. Audio without a container only.
  package private(set) var apeTags: [NamedTag] = []
  /// GStreamer names of tags that the demuxer sets wrongly; ``tags`` has the right values. Matroska
  /// and ASF only.
  package private(set) var misreadTags: [String] = []
  /// Tags that qtdemux does not read, in the form in which the file stores them. MP4 and MOV only.
  package private(set) var mp4Tags: [MP4Tag] = []
  /// Creation time in seconds since 1970. MP4 and MOV only: for these formats, GStreamer omits the
  /// creation time if the file also has a date without a time of day.
  package private(set) var created: Int?
  /// True if the header of the format has a field for the creation time. GStreamer reports that
  /// time as a date with a time of day. MP4, MOV, Matroska and WebM only.
  package private(set) var hasHeaderTime = false
  /// Three-letter language (ISO 639-2) of the audio. Files with ID3 tags only.
  package private(set) var language: String?
  /// Chapters. MP4, MOV, Matroska and WebM only.
  package private(set) var chapters: [ChapterMark] = []
  /// Number of chapters in the ID3 tag.
  package private(set) var tagChapterCount = 0
  package private(set) var correction: (any FileCorrection)?
  package private(set) var wave: WAVEHeader?
  /// True for a WAVE file without readable audio: the file ends before the audio, or the header is
  /// damaged.
  package private(set) var isEmptyWave = false
  /// Reason to refuse the file before a demuxer reads it, printed after "too damaged to read:"; nil
  /// if there is none. MP4, MOV, Matroska, WebM, IVF, Y4M, AIFF, AU and RealMedia, and files with
  /// APE tags only.
  package private(set) var fault: String?
  /// Audio format that the header declares, if GStreamer may not know the format. AIFF-C, AU and
  /// Wave64 only.
  package private(set) var uncommonAudio: String?
  package private(set) var gif: GIFBlocks?
  /// True if the format requires contiguous audio packets, so that a gap in time means missing
  /// packets. Ogg, FLAC, MP3, ADTS, AC-3, WavPack, True Audio and VOC only.
  package private(set) var isContinuous = false
  /// True for a Y4M file that is not 4:2:0, 4:2:2 or 4:4:4 with eight bits per component.
  package private(set) var isUnusualY4M = false
  /// Field order of a Y4M file, with the name used in caps; nil if the file declares none.
  package private(set) var y4mFieldOrder: String?
  /// Difference in format between the frames of a FLAC file and the file's header; nil if there is
  /// none.
  package private(set) var formChange: FLACChange?
  /// Orientation of an image, as in GST_TAG_IMAGE_ORIENTATION; nil if not declared. PNG, WebP and
  /// numbered images only.
  package private(set) var imageOrientation: String?
  /// Number of numbered images whose orientation differs from the first image's.
  package private(set) var otherOrientations = 0
  /// Number of numbered images whose tags differ from the first image's.
  package private(set) var otherTags = 0
  /// Priming and padding of the audio. Only for MP3, and for MP4 without edit lists.
  package private(set) var gapless: GaplessInfo?
  /// True if an MP4 or MOV file ends before its index (`moov`).
  package private(set) var lacksIndex = false

  /// True for a fragmented MP4 file if GStreamer misreads its presentation times, and
  /// ``correction`` cannot prevent this error.
  package private(set) var hasMisreadFragments = false

  /// Codec tag of raw video in NUT whose pixel format GStreamer does not read; nil without such
  /// video.
  package private(set) var unreadNUTVideo: String?

  /// True for a Matroska or WebM file without an index of keyframes (Cues), such as one that was
  /// written to a pipe.
  package private(set) var lacksCues = false

  /// True if the file begins with an ID3v2 tag. typefind skips such a tag if ADTS follows, so
  /// id3demux would not read it.
  package var beginsWithID3: Bool { beginning.starts(with: "ID3".utf8) }

  /// Path of the file, for formats in which only a walk through the whole file finds damage; nil
  /// for other formats.
  private var walked: String?

  /// System error number (`errno`) if the file could not be read; nil without an error. After an
  /// error, facts may be missing.
  package private(set) var readingFailure: Int32?

  /// Reads the facts of a file.
  /// - Parameters:
  ///   - path: path of a regular file; other files are ignored.
  ///   - isCancelled: polled while reading; reading stops once this closure returns true. A long
  ///     recording takes a while to read.
  package init(_ path: String, isCancelled: @escaping () -> Bool = { false }) {
    guard let file = RandomAccessFile(path, isCancelled: isCancelled) else { return }
    read(file)
    readingFailure = file.readingFailure
    if case .matroska = ContainerFormat(file) { walked = path }
  }

  /// Reads the facts of numbered images: the orientation and the tags of the first image, and the
  /// details of all.
  /// - Parameters:
  ///   - paths: paths of the images, in order.
  ///   - isCancelled: polled while reading; reading stops once this closure returns true.
  package init(images paths: some Sequence<String>, isCancelled: @escaping () -> Bool = { false }) {
    var first: ImageMetadata?
    for path in paths {
      guard !isCancelled() else { return }
      guard let file = RandomAccessFile(path, isCancelled: isCancelled), let image = ImageMetadata(file) else {
        continue
      }
      details += image.details
      let orientation = image.orientation ?? "rotate-0"
      if let first {
        if orientation != imageOrientation { otherOrientations += 1 }
        if image.tags != first.tags || image.comments != first.comments { otherTags += 1 }
      } else {
        first = image
        (imageOrientation, tags) = (orientation, image.tags)
      }
    }
  }

  /// Searches the whole file for damaged bytes. Takes time in proportion to the number of packets,
  /// so call this method only if all packets are read anyway. Matroska and WebM only.
  package func damage(isCancelled: @escaping () -> Bool = { false }) -> [Damage] {
    walked.flatMap { RandomAccessFile($0, isCancelled: isCancelled) }.flatMap { MatroskaDamage($0)?.places } ?? []
  }

  /// Returns the start times of a track's blocks in stream time, in file order. Takes as long as
  /// ``damage(isCancelled:)``. Matroska only.
  /// - Parameter number: track number used in blocks.
  package func blockTimes(ofTrack number: Int, isCancelled: @escaping () -> Bool = { false }) -> [ClockTime] {
    walked.flatMap { RandomAccessFile($0, isCancelled: isCancelled) }
      .flatMap { MatroskaDamage($0, timedTrack: number)?.times } ?? []
  }

  /// Returns the usual file name extension for MP4, MOV, Matroska, WebM, AVI, transport streams,
  /// Ogg, WAVE, FLAC, GIF and Y4M, detected by content; nil for other formats.
  package static func writtenExtension(of path: String) -> String? {
    guard let file = RandomAccessFile(path), let format = ContainerFormat(file) else { return nil }
    return switch format {
    case .mp4: "mp4"
    case .matroska: "mkv"
    case .avi: "avi"
    case .transportStream: "ts"
    case .ogg: "ogg"
    case .wave: "wav"
    case .flac: "flac"
    case .gif: "gif"
    case .y4m: "y4m"
    default: nil
    }
  }

  private mutating func read(_ file: RandomAccessFile) {
    size = file.size
    beginning = file.read(0..<min(size, 1024)) ?? []
    fault = APETag.fault(in: file)
    guard fault == nil, let format = ContainerFormat(file) else { return }
    isUsuallyMPEG =
      switch format {
      case .mp4, .avi, .flv, .programStream, .transportStream: true
      case .matroska: !beginning.prefix(64).contains("webm".utf8)
      default: false
      }
    switch format {
    case .mp4: readMP4(file)
    case .matroska: readMatroska(file)
    case .wave:
      wave = WAVEHeader(file)
      isEmptyWave = WAVEHeader.isEmpty(file)
      uncommonAudio = wave?.uncommonFormat
      report = wave.map { ContainerReport($0) }
      tags = wave?.chunks.tags ?? []
      correction = WAVECorrection(file)
    case .transportStream(let packets):
      guard let scan = TransportScan(file, packets) else { return }
      report = .transportStream(scan)
      details = scan.marks
      correction = scan.correction
    case .aiff: readAIFF(file)
    case .asf:
      report = .asf(file)
      (tags, details) = ASFTags.unread(in: file)
      if tags.contains(where: { $0.name == ASFTags.albumArtist }) { misreadTags = ["artist"] }
      if tags.contains(where: { $0.name.uppercased() == ASFTags.rating }) { misreadTags.append("comment") }
    case .au:
      report = .au(file)
      fault = ContainerReport.auFault(file)
      uncommonAudio = ContainerReport.uncommonAUFormat(file)
      tags = ContainerReport.auAnnotation(file).map { [NamedTag(name: "COMMENT", text: $0)] } ?? []
    case .avi:
      report = .avi(file)
      tags = file.aviTags
      tracks = file.aviTracks
      // `StoredAudio(avi:)` succeeds only for a file whose single track is PCM.
      if !tracks.isEmpty, let stored = StoredAudio(avi: file) { tracks[0].stored = stored }
    case .ogg:
      report = .ogg(file)
      isContinuous = true
    case .gif:
      gif = GIFBlocks(file)
      report = gif.flatMap { ContainerReport($0) }
    case .flic: report = .flic(file)
    case .flv:
      let script = ContainerReport.flvScript(file)
      report = .flv(file, script: script)
      tags = script.map { FLVTags($0).unread } ?? []
    case .ivf:
      report = .ivf(file)
      fault = ContainerReport.ivfFault(file)
    case .mxf: report = .mxf(file)
    case .nut:
      report = .nut(file)
      unreadNUTVideo = ContainerReport.unreadNUTVideo(file)
    case .programStream: report = .programStream(file)
    case .realMedia:
      report = .realMedia(file)
      fault = ContainerReport.realMediaFault(file)
    case .y4m:
      report = .y4m(file)
      fault = ContainerReport.y4mFault(file)
      y4mFieldOrder = ContainerReport.y4mFieldOrder(file)
      isUnusualY4M = ContainerReport.isUnusualY4M(file)
    case .flac(let stream): readFLAC(stream)
    case .image:
      guard let image = ImageMetadata(file) else { return }
      (imageOrientation, tags, details) = (image.orientation, image.tags, image.details)
    case .audio: readBareAudio(file)
    }
  }

  private mutating func readMP4(_ file: RandomAccessFile) {
    let index = MP4Index(file)
    report = .mp4(file, index)
    lacksIndex = index == nil && ContainerReport.lacksIndex(file)
    guard let index else { return }
    guard !index.isTooDeep else { return fault = Nesting.fault }
    tracks = MP4Track.all(in: index, fileSize: file.size)
    let found = MP4Tags(index)
    (tags, mp4Tags, created) = (found.named, found.tags, found.created)
    hasHeaderTime = true
    details =
      MP4Details.all(in: index) + MP4Styles.details(index, file) + found.details + MP4Details.nonMediaBoxes(file)
    chapters = MP4Chapters.read(index, file)
    let fragments = index.isFragmented ? FragmentCorrections(index, file) : nil
    hasMisreadFragments = fragments?.areMissing ?? false
    let corrections = MP4Corrections(index, fragments)
    (correction, gapless) = (corrections, corrections?.gapless)
  }

  private mutating func readMatroska(_ file: RandomAccessFile) {
    report = .matroska(file)
    hasHeaderTime = true
    if let segment = file.firstElement(MatroskaID.segment, in: 0..<file.size) {
      guard !file.hasTooDeepChapters(in: segment) else { return fault = Nesting.fault }
      lacksCues = file.listedElement(MatroskaID.cues, in: segment) == nil
    }
    (tracks, details) = MatroskaTrack.all(in: file)
    let found = MatroskaTags.unread(in: file)
    tags = found.tags
    if tags.contains(where: { $0.name == "TRACKNUMBER" }) { misreadTags = ["album-disc-number"] }
    if tags.contains(where: { MatroskaTags.performers.values.contains($0.name) }) { misreadTags.append("performer") }
    details += found.details
    let chapters = MatroskaChapters(file)
    self.chapters = chapters?.chapters ?? []
    correction = MatroskaCorrection(file, chapters, nextFile: report?.nextFile)
  }

  private mutating func readAIFF(_ file: RandomAccessFile) {
    report = .aiff(file)
    let chunks = ContainerReport.aiffChunks(file)
    (fault, uncommonAudio) = (chunks.fault, chunks.uncommonFormat)
    // An ID3 tag repeats the AIFF text chunks, so they are read only if there is no ID3 tag.
    if let place = chunks.tag { readID3(file, at: place) } else { tags = chunks.texts }
    details += chunks.details
    tracks = [ContainerTrack(kind: .audio, disposition: nil, loudspeakers: chunks.loudspeakers)]
  }

  private mutating func readFLAC(_ stream: FLACStream) {
    formChange = stream.change()
    report = .flac(stream, changesForm: formChange != nil)
    details = stream.applications.map {
      ContainerDetail(file: "the data of the application “\($0)” (APPLICATION)")
    }
    correction = formChange.map { _ in FLACCorrection(stream) }
    isContinuous = true
  }

  /// Reads the report, priming, padding and tags of an audio file without a container.
  private mutating func readBareAudio(_ file: RandomAccessFile) {
    report = .audio(file)
    isContinuous = report != nil
    gapless = InfoFrame(file)?.gapless
    readID3(file, at: 0)
    let last = APETag.items(in: file)
    tags += last.unread
    apeTags = last.read
    details += last.details
  }

  private mutating func readID3(_ file: RandomAccessFile, at place: Int) {
    let found = ID3Tag.unread(in: file, at: place)
    (tagChapterCount, tags, details) = (found.chapterCount, found.tags, found.details)
    language = found.language
  }
}

/// Format of a file, detected by its first bytes.
enum ContainerFormat {
  /// PNG or WebP, animated or not.
  case image
  case aiff, asf, au, avi, flic, flv, gif, ivf, matroska, mp4, mxf, nut, ogg, programStream, realMedia
  case wave, y4m
  case flac(FLACStream)
  case transportStream(TransportPackets)
  /// Audio without a container, with or without tags; also any unknown format.
  case audio

  /// - Returns: nil if the file is too short for any format.
  init?(_ file: RandomAccessFile) {
    guard let start = file.read(0..<12) else { return nil }
    switch (start.text(0), start.text(4), start.text(8)) {
    case ("RIFF", _, "AVI "): self = .avi
    case ("RIFF", _, "WAVE"), ("RF64", _, _), ("riff", _, _): self = .wave
    case ("FORM", _, "AIFF"), ("FORM", _, "AIFC"): self = .aiff
    case ("DKIF", _, _): self = .ivf
    case (".RMF", _, _): self = .realMedia
    case ("YUV4", "MPEG", _): self = .y4m
    case ("OggS", _, _): self = .ogg
    case (".snd", _, _): self = .au
    case ("nut/", "mult", "imed"): self = .nut
    case ("GIF8", _, _): self = .gif
    case ("RIFF", _, "WEBP"): self = .image
    case (_, let type, _) where ContainerReport.mp4Types.contains(type): self = .mp4
    default:
      switch (start[0], start[1], start[2], start[3]) {
      case (0x1A, 0x45, 0xDF, 0xA3): self = .matroska
      case (0x89, 0x50, 0x4E, 0x47): self = .image
      case (0x46, 0x4C, 0x56, _): self = .flv
      case (0x06, 0x0E, 0x2B, 0x34): self = .mxf
      case (0x30, 0x26, 0xB2, 0x75): self = .asf
      case (0, 0, 1, 0xBA): self = .programStream
      default:
        self =
          TransportPackets(file).map { .transportStream($0) } ?? (ContainerReport.isFLIC(file) ? .flic : nil)
          ?? FLACStream(file, at: ID3Tag.end(in: file)).map { .flac($0) } ?? .audio
      }
    }
  }
}
