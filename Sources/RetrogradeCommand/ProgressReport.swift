import Glibc
import Retrograde

/// Output of `--progress json`: an object a line on standard error, told apart by `stage`.
struct ProgressReport: Encodable {
  /// Present if several files are made.
  var input: String?
  var output: String?
  var stage: String
  /// Share of all of the work that is done, and of this stage, from 0 to 1.
  var fraction: Double
  var stageFraction: Double
  var done: Int
  var total: Int
  /// In seconds, as all times are here.
  var position: Double
  var duration: Double
  var fps: Double
  var speed: Double
  /// Present only when there is something to estimate it by.
  var remaining: Double?
  /// In bytes.
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

  /// The last line of a run that succeeded.
  struct Done: Encodable {
    var stage = "done"
    /// Present if several files are made.
    var input: String?
    var output: String
    var frames: Int
    /// Sample frames of each stream of audio.
    var samples: [Int]
    var duration: Double
    var elapsed: Double
    /// In bytes.
    var peakMemory: Int
    var captured: Int?
    var loop: FoundLoop?
    /// In bytes.
    var fetched: Int?
    var windows: Int
    /// Content of the file.
    var written: WrittenMedia?
    /// Streams that changed to another codec, and why.
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

  /// The last line of a run that failed.
  struct Failed: Encodable {
    struct Reason: Encodable {
      /// Code of the error. Stable: programs may act on it.
      var code: String
      /// The whole sentence; its subject and remedy stand by themselves too, where they are known.
      var message: String
      var subject: String?
      var remedy: String?
      /// Exit status of the command, unless a signal ended it.
      var status: Int32
    }
    var stage = "failed"
    /// Present if several files are made.
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
      self.error = Reason(code: "cancelled", message: "cancelled", status: 128 + SIGINT)
    }
  }
}

extension ProgressReport {
  /// The first line, where a folder is watched.
  struct Watching: Encodable {
    var stage = "watching"
    var folder: String
  }

  /// The last line, where several files are made.
  struct All: Encodable {
    var stage = "all"
    var made: Int
    var failed: Int
    /// Present only if the total is known.
    var total: Int?
    var elapsed: Double
    /// Inputs that a signal left without a mirror; absent without a signal.
    var notMade: [String]?
  }

  /// A line from the process that works on one file of several, such as one of GLib's log.
  struct Said: Encodable {
    var stage = "message"
    var input: String
    var message: String
  }
}

/// An error that was told already, in the form that was asked for.
struct ReportedError: Error {
  var error: any Error
}

extension Double {
  /// Rounded to so many digits behind the point; a value that is no number becomes 0, which JSON can hold.
  func rounded(to digits: Int) -> Double {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let rounded = (self * scale).rounded() / scale
    return rounded.isFinite ? rounded : 0
  }
}
