import Glibc
import Retrograde

/// Output of `--progress json`: one object a line on standard error, distinguished by `stage`.
struct ProgressReport: Encodable {
  /// Source file; present only if several files are reversed.
  var input: String?
  var output: String?
  var stage: String
  /// Finished share of all work (`fraction`) and of this stage (`stageFraction`), from 0 to 1.
  var fraction: Double
  var stageFraction: Double
  var done: Int
  var total: Int
  /// Position in seconds. All other times in this type are in seconds too.
  var position: Double
  var duration: Double
  var fps: Double
  var speed: Double
  /// Estimated time left; only present if it can be estimated.
  var remaining: Double?
  /// Memory in use, in bytes.
  var memory: Int

  init(_ progress: ReversalProgress, input: String? = nil, output: String? = nil) {
    (self.input, self.output) = (input, output)
    stage = progress.stage.rawValue
    fraction = progress.fraction.rounded(to: 4)
    stageFraction = progress.stageFraction.rounded(to: 4)
    done = progress.done
    total = progress.total
    position = progress.position.seconds
    duration = progress.duration.seconds
    fps = progress.rate.rounded(to: 1)
    speed = progress.speed.rounded(to: 1)
    remaining = progress.remaining?.seconds.rounded(to: 1)
    memory = progress.memoryHeld
  }

  /// Last line of a successful run.
  struct Done: Encodable {
    var stage = "done"
    /// Source file; present only if several files are reversed.
    var input: String?
    var output: String
    var frames: Int
    /// Number of sample frames in each audio stream.
    var samples: [Int]
    var duration: Double
    var elapsed: Double
    /// Largest memory use, in bytes.
    var peakMemory: Int
    var captured: Int?
    var loop: FoundLoop?
    /// Number of downloaded bytes.
    var fetched: Int?
    var windows: Int
    /// Contents of the output file.
    var written: WrittenMedia?
    /// Streams whose codec changed, and why.
    var changes: [CodecChange]
    var warnings: [Warning]

    init(_ summary: Summary, input: String? = nil) {
      self.input = input
      output = summary.output
      frames = summary.frames
      samples = summary.samples
      duration = summary.duration.seconds
      elapsed = summary.elapsed.seconds.rounded(to: 3)
      peakMemory = summary.peakMemory
      captured = summary.captured
      loop = summary.loop
      fetched = summary.fetched?.bytes
      windows = summary.plan?.windows.count ?? 0
      (written, changes) = (summary.written, summary.changes)
      warnings = summary.warnings
    }
  }

  /// Last line of a failed run.
  struct Failed: Encodable {
    struct Reason: Encodable {
      /// Stable error code for programs.
      var code: String
      /// Complete message. It includes the subject and the remedy, if any; `subject` and `remedy`
      /// contain the same texts separately.
      var message: String
      var subject: String?
      var remedy: String?
      /// Exit status of the command.
      var status: Int32
    }
    var stage = "failed"
    /// Source file; present only if several files are reversed.
    var input: String?
    var output: String?
    var error: Reason

    init(_ error: RetrogradeError, input: String? = nil, output: String? = nil) {
      (self.input, self.output) = (input, output)
      self.error = Reason(
        code: error.code.rawValue, message: error.message.inOptions, subject: error.subject,
        remedy: error.remedy?.inOptions, status: error.code.exitStatus)
    }

    init(_ error: CancellationError) {
      self.error = Reason(code: "cancelled", message: "cancelled", status: Interruption.cancelledStatus)
    }
  }
}

extension ProgressReport {
  /// First line when a folder is watched.
  struct Watching: Encodable {
    var stage = "watching"
    var folder: String
  }

  /// Last line of a run that reverses several files.
  struct All: Encodable {
    var stage = "all"
    var made: Int
    var failed: Int
    /// Total number of inputs; absent if unknown.
    var total: Int?
    var elapsed: Double
    /// Inputs that were not reversed because of a signal; absent if there was no signal.
    var notMade: [String]?
  }

  /// Line printed by the child that reverses one of several files, such as a line of GLib's log.
  struct LogLine: Encodable {
    var stage = "message"
    var input: String
    var message: String
  }
}

/// Error that was already reported in the requested form.
struct ReportedError: Error {
  var error: any Error
}

extension Double {
  /// Returns the value rounded to `digits` decimals. NaN and infinity become 0, because JSON can't
  /// represent them.
  func rounded(to digits: Int) -> Double {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let rounded = (self * scale).rounded() / scale
    return rounded.isFinite ? rounded : 0
  }
}
