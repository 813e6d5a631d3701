import CVersion
import Containers
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine

/// IDs and date of an output file, stored so that every run writes the same file.
struct FileOrigin: Codable, Sendable, Equatable {
  /// Seed of the random number generator that makes the unique IDs of the file and its tracks.
  var seed: UInt32
  /// Creation date, in seconds since 1970.
  var date: Int
}

/// Warning, in the form that a plan file stores. The message stores settings as key paths; the
/// program that shows the message supplies the names of the settings.
struct Notice: Codable, Sendable {
  private var code: Warning.Code
  private var message: Message
  private var count: Int?
  private var span: TimeSpan?

  init(_ warning: Warning) {
    (code, message, count, span) = (warning.code, warning.message, warning.count, warning.span)
  }

  var warning: Warning { Warning(code, message, count: count, span: span) }
}

/// Change of codec, in the form that a plan file stores.
struct StoredCodecChange: Codable, Sendable {
  private var kind: StreamKind
  private var source: String
  private var output: String
  private var reason: Message

  init(_ change: CodecChange) {
    (kind, source, output, reason) = (change.kind, change.source, change.output, change.reason)
  }

  var change: CodecChange { CodecChange(kind: kind, source: source, output: output, reason: reason) }
}

/// Content of `plan.json` in a work folder: the plan to make an output in chunks. A chunk depends
/// only on the plan and the source. Times are in seconds. docs/chunks.md describes each field.
struct ChunkPlan: Codable, Sendable {
  /// Identity of the source when the plan was made. A different source is refused.
  struct SourceIdentity: Codable, Sendable, Equatable {
    var path: String
    var size: Int
    /// Seconds and nanoseconds since 1970.
    var modified: [Int]
  }

  /// Requested options.
  struct Options: Codable, Sendable {
    var playback: PlaybackOptions
    var encoding: EncodingOptions
    var output: OutputOptions
    var subtitles: String?
    var lettering: Lettering

    init(_ options: ReverseOptions) {
      (playback, encoding, output) = (options.playback, options.encoding, options.output)
      (subtitles, lettering) = (options.subtitles, options.lettering)
    }

    /// Returns all options: the stored options, and the current run's limits `resources`.
    func all(_ resources: Resources) -> ReverseOptions {
      ReverseOptions(
        playback: playback, encoding: encoding, output: output, resources: resources, subtitles: subtitles,
        lettering: lettering)
    }
  }

  /// Video stream of the output.
  struct Video: Codable, Sendable {
    /// Name of the appsrc that gets the stream's frames.
    var name: String
    /// Index of the source's video, without the list of packets, which is in the file `index-N`.
    var index: StoredVideoIndex
    /// Caps of the raw frames that the encoder gets.
    var caps: String
    /// Pipeline that encodes a chunk, in `gst-launch-1.0` syntax.
    var encoding: String
    /// Requested encoder; nil: the default.
    var encoder: String?
    /// Encoder properties that override the properties in `encoding`: for example, a fixed number
    /// of threads, so that the output does not depend on the machine.
    var settings: [String: String]
    var frames: Int
    /// Approximate duration of one frame.
    var step: ClockTime
    var disposition: Disposition?
    var orientation: String?
    var fieldOrder: MatroskaHeader.FieldOrder?
    var title: String?
    /// Tags that the muxer does not write, as `NAME=text`.
    var comments: [String]
  }

  /// Audio stream of the output. The whole stream is one chunk, because the packets of audio codecs
  /// overlap, so an audio stream can't be cut.
  struct Audio: Codable, Sendable {
    /// Caps of the audio samples that the encoder gets.
    var caps: String
    /// Pipeline that encodes the stream.
    var encoding: String
    var sampleCount: Int?
    var disposition: Disposition?
    var title: String?
    /// Tags that the muxer does not write, as `NAME=text`.
    var comments: [String]
  }

  struct Subtitles: Codable, Sendable {
    var caps: String
    var tags: String?
    var disposition: Disposition?
    /// Cues, in source time.
    var cues: [Cue]

    init(_ track: SubtitleTrack) {
      (caps, tags) = (track.caps.description, track.tags?.description)
      (disposition, cues) = (track.disposition, track.cues)
    }

    /// Subtitle track; nil if `caps` can't be parsed.
    var track: SubtitleTrack? {
      Caps(caps).map {
        SubtitleTrack(caps: $0, tags: tags.flatMap { TagList($0) }, disposition: disposition, cues: cues)
      }
    }
  }

  /// Separate subtitle file beside the output.
  struct SubtitleOutput: Codable, Sendable {
    /// Absolute path.
    var path: String
    var subtitles: Subtitles
  }

  /// Content of one chunk.
  struct Chunk: Codable, Sendable {
    var kind: StreamKind
    /// Number of the stream among the streams of its kind.
    var stream: Int
    /// Start of the chunk's first frame and end of its last frame, in the output.
    var span: TimeSpan
    /// Range of the source that the chunk plays.
    var source: TimeSpan
    /// Number of video frames; 0 for audio.
    var frames: Int
    /// Encoder properties that set this chunk's bit rate.
    var settings: [String: String]
    /// Approximate size in bytes; nil if the encoder has no target bit rate.
    var bytes: Int?
  }

  /// Version of the program that made the plan. Other versions may write different bytes.
  var version: String
  var source: SourceIdentity
  /// Absolute path of the output.
  var output: String
  var options: Options
  /// Range of the source to play; nil: the whole source.
  var range: TimeSpan?
  /// The order of play.
  var legs: PlaybackLegs
  var videos: [Video]
  var audio: [Audio]
  var subtitles: [Subtitles]
  var subtitleOutput: SubtitleOutput?
  var chapters: [Chapter]
  /// Tags of the whole file, in GStreamer's syntax.
  var tags: String?
  /// Tags of the whole file that the muxer does not write, as `NAME=text`.
  var comments: [String]
  /// Tags of an MP4 or MOV source, as stored in the source.
  var mp4Tags: [MP4Tag]
  /// Pipeline that joins the chunks, in `gst-launch-1.0` syntax.
  var joining: String
  /// True if the container has edit lists, which select the audio samples to play.
  var hasEditLists: Bool
  /// Warnings about the result.
  var warnings: [Notice]
  /// Streams whose codec changes.
  var changes: [StoredCodecChange]
  /// IDs and date of the output file.
  var origin: FileOrigin
  var chunks: [Chunk]
}

extension ChunkPlan {
  /// The version of this program.
  static let ownVersion = RETROGRADE_VERSION

  /// Computes the seed of a file's unique IDs from the digests of the source's video indexes. Equal
  /// sources have equal seeds.
  static func seed(_ digests: [String]) -> UInt32 {
    digests.compactMap { UInt32($0.prefix(8), radix: 16) }.reduce(0, ^)
  }

  /// Number of video frames in all chunks.
  var frameCount: Int { chunks.reduce(0) { $0 + $1.frames } }

  /// Returns the output frame number of a chunk's first frame.
  func firstFrame(of chunk: Int) -> Int {
    chunks(chunks[chunk].kind, chunks[chunk].stream).filter { $0 < chunk }.reduce(0) { $0 + chunks[$1].frames }
  }

  /// Returns the numbers of a stream's chunks, in the order of the output.
  func chunks(_ kind: StreamKind, _ stream: Int) -> [Int] {
    chunks.indices.filter { chunks[$0].kind == kind && chunks[$0].stream == stream }
  }

  static func name(_ number: Int) -> String { "chunk \(number)" }
}

extension ChunkPlan {
  /// Returns the default number of chunks to make at once: one per core, because `EncoderHeader`
  /// makes the usual encoders use one thread. Fewer if memory is short, because a chunk without
  /// enough memory for a few frames would mostly wait for the spool.
  /// - Parameter memory: memory budget in total, for all chunks that are made at once.
  func usualJobs(with memory: ByteCount) -> Int {
    let frame = videos.compactMap { Caps($0.caps)?.frameSize }.max() ?? 0
    let fitting = memory.bytes / max(frame * ChunkPlan.framesOfAJob, 1)
    return max(1, min(chunks.count, fitting, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  private static let framesOfAJob = 8
}
