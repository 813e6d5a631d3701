import CVersion
import Containers
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine

/// Identity that a file carries, which would differ between two files that are made alike.
struct FileOrigin: Codable, Sendable, Equatable {
  /// Seed of the numbers that tell the file, and its tracks, from others.
  var seed: UInt32
  /// When it was made, in seconds since 1970.
  var date: Int
}

/// A warning that is kept. Settings in it get the names that the program which shows it has for them.
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

/// A change of codec that is kept, as a ``Notice`` is.
struct KeptChange: Codable, Sendable {
  private var kind: StreamKind
  private var source: String
  private var output: String
  private var reason: Message

  init(_ change: CodecChange) {
    (kind, source, output, reason) = (change.kind, change.source, change.output, change.reason)
  }

  var change: CodecChange { CodecChange(kind: kind, source: source, output: output, reason: reason) }
}

/// Plan of making an output in pieces that depend on nothing but this and the source: the content of
/// `plan.json` in a work folder. Times are in seconds. docs/chunks.md describes each field.
struct ChunkPlan: Codable, Sendable {
  /// Identity of the source when the plan was made: another one is refused.
  struct SourceIdentity: Codable, Sendable, Equatable {
    var path: String
    var size: Int
    /// Seconds and nanoseconds since 1970.
    var modified: [Int]
  }

  /// Options that were asked for.
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

    /// Options that were asked for, with the resources that a run may take of the machine.
    func all(_ resources: Resources) -> ReverseOptions {
      ReverseOptions(
        playback: playback, encoding: encoding, output: output, resources: resources, subtitles: subtitles,
        lettering: lettering)
    }
  }

  /// A video stream of the output.
  struct Video: Codable, Sendable {
    /// Name of the appsrc that takes its frames.
    var name: String
    /// Index from the pass over the source; its packets are in the file `index-N`.
    var index: StoredVideoIndex
    /// The raw frames, as the encoder gets them.
    var caps: String
    /// The pipeline that encodes a chunk, in `gst-launch-1.0` syntax.
    var encoding: String
    /// The encoder, where it was asked for by name.
    var encoder: String?
    /// Its properties, in place of the pipeline's: properties on which the output must not depend, such as
    /// threads, are fixed here.
    var settings: [String: String]
    var frames: Int
    /// How long a frame is shown, more or less.
    var step: ClockTime
    var disposition: Disposition?
    var orientation: String?
    var fieldOrder: MatroskaHeader.FieldOrder?
    var title: String?
    /// Tags that the muxer does not write, such as `NAME=text`.
    var comments: [String]
  }

  /// An audio stream of the output. It is one chunk: codecs overlap their packets, which no joint may cut.
  struct Audio: Codable, Sendable {
    /// The samples, as the encoder gets them.
    var caps: String
    /// The pipeline that encodes it.
    var encoding: String
    var sampleCount: Int?
    var disposition: Disposition?
    var title: String?
    /// Tags that the muxer does not write, as those of a video.
    var comments: [String]
  }

  struct Subtitles: Codable, Sendable {
    var caps: String
    var tags: String?
    var disposition: Disposition?
    /// In the time of the source.
    var cues: [Cue]

    init(_ track: SubtitleTrack) {
      (caps, tags) = (track.caps.description, track.tags?.description)
      (disposition, cues) = (track.disposition, track.cues)
    }

    /// nil where the caps are none.
    var track: SubtitleTrack? {
      Caps(caps).map {
        SubtitleTrack(caps: $0, tags: tags.flatMap { TagList($0) }, disposition: disposition, cues: cues)
      }
    }
  }

  /// A file of subtitles that is made beside the output.
  struct SubtitleOutput: Codable, Sendable {
    /// The absolute path.
    var path: String
    var subtitles: Subtitles
  }

  /// Content of one chunk.
  struct Chunk: Codable, Sendable {
    var kind: StreamKind
    /// The place of its stream among those of its kind.
    var stream: Int
    /// When its first frame is shown in the output, and until when its last one is.
    var span: TimeSpan
    /// Part of the source that is played in it.
    var source: TimeSpan
    /// How many frames of video it has.
    var frames: Int
    /// Properties of its encoder: the rate that its part of the source asks for.
    var settings: [String: String]
    /// How many bytes it takes, about; nil where no rate says.
    var bytes: Int?
  }

  /// Version of the program that made it: another one may write other bytes.
  var version: String
  var source: SourceIdentity
  /// The absolute path of the file to be made.
  var output: String
  var options: Options
  /// Part of the source that is played; nil: all of it.
  var range: TimeSpan?
  /// The order of play.
  var legs: PlaybackLegs
  var videos: [Video]
  var audio: [Audio]
  var subtitles: [Subtitles]
  var subtitleOutput: SubtitleOutput?
  var chapters: [Chapter]
  /// Tags of the file as a whole, as GStreamer writes them.
  var tags: String?
  /// Tags of the file as a whole that the muxer does not write, such as `NAME=text`.
  var comments: [String]
  /// Tags of an MP4 or MOV source that lie in it in another form.
  var mp4Tags: [MP4Tag]
  /// The pipeline that joins the chunks.
  var joining: String
  /// Whether the container says which samples are heard.
  var hasEditLists: Bool
  /// Warnings about the result.
  var warnings: [Notice]
  /// Streams that change to another codec.
  var changes: [KeptChange]
  /// Identity of the file, which is not in the source.
  var origin: FileOrigin
  var chunks: [Chunk]
}

extension ChunkPlan {
  /// The version of this program.
  static let ownVersion = RETROGRADE_VERSION

  /// Numbers that tell a file from others: the same for the same source.
  static func seed(_ digests: [String]) -> UInt32 {
    digests.compactMap { UInt32($0.prefix(8), radix: 16) }.reduce(0, ^)
  }

  /// Frames of video in all chunks.
  var frameCount: Int { chunks.reduce(0) { $0 + $1.frames } }

  /// The number in the output of the first frame of a chunk.
  func firstFrame(of chunk: Int) -> Int {
    chunks(chunks[chunk].kind, chunks[chunk].stream).filter { $0 < chunk }.reduce(0) { $0 + chunks[$1].frames }
  }

  /// The chunks of a stream, in the order of the output.
  func chunks(_ kind: StreamKind, _ stream: Int) -> [Int] {
    chunks.indices.filter { chunks[$0].kind == kind && chunks[$0].stream == stream }
  }

  /// Name of chunk `number` in messages: `chunk 12`.
  static func name(_ number: Int) -> String { "chunk \(number)" }
}

extension ChunkPlan {
  /// Number of chunks at once that fill this machine: encoders have a thread or two (`EncoderHeader`). Each
  /// gets room for some frames: with less it would be busy with the spool.
  /// - Parameter memory: the budget that all of them share.
  func usualJobs(with memory: ByteCount) -> Int {
    let frame = videos.compactMap { Caps($0.caps)?.frameSize }.max() ?? 0
    let fitting = memory.bytes / max(frame * ChunkPlan.framesOfAJob, 1)
    return max(1, min(chunks.count, fitting, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  private static let framesOfAJob = 8
}
