import GStreamer
public import MediaTime
public import RetrogradeEngine

/// Length of the chunks that a video is cut into.
public enum ChunkLength: Sendable, Hashable {
  /// Default length (60 s), at which cutting costs little bit rate and quality.
  case usual
  /// Approximately this length; each chunk begins with a group of pictures.
  case about(ClockTime)
  /// At most this many chunks; fewer if the source has fewer groups of pictures.
  case count(Int)
}

extension Reverser {
  /// Begins to write the mirror (the reversed source) to `output`, in chunks that are stored in
  /// `folder`. If the folder contains an interrupted run, resumes that run. Several processes, also
  /// on several machines, can share the work. The folder is removed when the output is complete.
  ///
  /// - Parameters:
  ///   - output: path of the output; the extension selects the container.
  ///   - folder: a new or empty folder, or a folder with a plan of the same work.
  ///   - jobs: number of chunks to make at once; nil: as many as the cores and the memory allow.
  ///   - length: length of the chunks; ignored if the folder contains a plan.
  public func start(to output: String, in folder: String, jobs: Int? = nil, chunks length: ChunkLength = .usual)
    -> Reversal
  {
    Reversal { work in
      try ChunkedReversal(folder, work).run(self, to: output, length, jobs: jobs)
    }
  }

  /// Plans the mirror (the reversed source) in chunks, and writes the plan into `folder`. For the
  /// plan, only the audio and a short part of the video are decoded.
  ///
  /// - Parameters: see ``start(to:in:jobs:chunks:)``.
  /// - Throws: ``RetrogradeError``.
  @discardableResult
  public func split(
    to output: String, in folder: String, chunks length: ChunkLength = .usual,
    _ report: @escaping @Sendable (ReversalProgress) -> Void = { _ in }
  ) async throws -> ChunkStatus {
    try await Work.perform("split", report) { work in
      let chunked = ChunkedReversal(folder, work)
      _ = try chunked.plan(self, to: output, length)
      return try chunked.status()
    }
  }
}

/// Folder in which an output is made in chunks: see ``Reverser/split(to:in:chunks:_:)``.
public struct ChunkFolder: Sendable {
  public let path: String

  public init(_ path: String) { self.path = path }

  /// Returns the state of each chunk, and the estimated remaining time.
  /// - Throws: ``RetrogradeError``.
  public func status() async throws -> ChunkStatus {
    try await Work.perform("status") { try ChunkedReversal(path, $0).status() }
  }

  /// Makes the wanted chunks that are unfinished. Waits for wanted chunks that other processes are
  /// making; if such a process dies, makes its chunk. All wanted chunks are finished on return.
  ///
  /// - Parameters:
  ///   - wanted: numbers of the chunks; nil: only the next chunk that is neither finished nor being
  ///     made.
  ///   - resources: memory budget, in total for all jobs, and spool directory.
  ///   - jobs: number of chunks to make at once.
  /// - Returns: the numbers of the chunks that were made.
  /// - Throws: ``RetrogradeError`` of the first failed chunk, after all wanted chunks were tried;
  ///   ``RetrogradeError`` of code `usage` if the plan lacks a wanted chunk.
  @discardableResult
  public func make(
    _ wanted: ClosedRange<Int>? = nil, resources: Resources = Resources(), jobs: Int = 1,
    _ report: @escaping @Sendable (ReversalProgress) -> Void = { _ in }
  ) async throws -> [Int] {
    try await Work.perform("chunk", report) { work in
      let chunked = ChunkedReversal(path, work)
      let plan = try chunked.folder.knownPlan()
      if let wanted,
        !plan.chunks.indices.contains(wanted.lowerBound) || !plan.chunks.indices.contains(wanted.upperBound)
      {
        throw RetrogradeError(
          .usage, about: path, "has only chunks 0 to \(plan.chunks.count - 1)",
          remedy: "`retrograde work status \(Shell.quoted(path))` lists them")
      }
      var chunks: [Int] = []
      _ = try chunked.unlessFinished(plan) {
        guard let wanted else {
          chunks = try chunked.make(plan, resources, jobs: jobs, limit: 1).allMade()
          return
        }
        let range = wanted.lowerBound..<wanted.upperBound + 1
        // If another process is making a chunk, wait until the chunk is finished or that process
        // has died.
        repeat {
          chunks += try chunked.make(plan, resources, jobs: jobs, only: range).allMade()
        } while try chunked.hasAbandonedChunk(plan, range)
      }
      return chunks
    }
  }

  /// Joins the chunks into the output. All chunks must be finished.
  ///
  /// - Parameter resources: memory budget and spool directory for the verification of the output;
  ///   unused if the plan's options do not request verification.
  /// - Returns: the progress and the result. The result is a ``RetrogradeError`` of code `usage` if
  ///   chunks are unfinished, of code `damagedInput` if chunk files are missing or were changed.
  public func join(resources: Resources = Resources()) -> Reversal {
    Reversal { try ChunkedReversal(path, $0).joinAll(resources) }
  }
}

/// Progress of the work in a folder.
public struct ChunkStatus: Sendable, Codable {
  public struct Chunk: Sendable, Codable {
    public enum State: String, Sendable, Codable {
      case waiting, running, done, failed
    }
    public var number: Int
    public var kind: StreamKind
    /// Start in the output, in seconds.
    public var start: Double
    /// End in the output, in seconds.
    public var end: Double
    /// Number of video frames; 0 for audio.
    public var frames: Int
    public var state: State
    /// Name of the host on which the chunk is or was made.
    public var host: String?
    /// ID of the process that makes or made the chunk.
    public var process: Int?
    /// Time of the last change of state, in seconds since 1970.
    public var since: Double?
    /// Time taken to make the chunk, in seconds.
    public var seconds: Double?
    public var bytes: Int?
    /// Reason for a failure.
    public var reason: String?
  }
  public var output: String
  public var source: String
  public var chunks: [Chunk]
  /// Estimated remaining time in seconds, if the number of running chunks stays the same; nil if
  /// unknown.
  public var remaining: Double?
}
