import GStreamer
public import MediaTime
public import RetrogradeEngine

/// How long the chunks are into which a video is cut.
public enum ChunkLength: Sendable, Hashable {
  /// Length at which chunks cost next to nothing: see docs/chunks.md.
  case usual
  /// This length, as nearly as groups of pictures allow.
  case about(ClockTime)
  /// At most this many chunks; fewer if the source has fewer groups of pictures.
  case count(Int)
}

extension Reverser {
  /// Begins to write the mirror to `output` in chunks, which wait in `folder`, or resumes an earlier run
  /// there. Several processes may do so at once, on several machines: they share the work. The folder is gone
  /// when the output is whole.
  ///
  /// - Parameters:
  ///   - output: its extension chooses the container.
  ///   - folder: one that is new, empty, or has the plan of this very work in it.
  ///   - jobs: how many chunks are made at once; nil: as many as fill this machine.
  ///   - length: how long chunks are; where there is a plan, that holds.
  public func start(to output: String, in folder: String, jobs: Int? = nil, chunks length: ChunkLength = .usual)
    -> Reversal
  {
    Reversal { work in
      try ChunkedReversal(folder, work).run(self, to: output, length, jobs: jobs)
    }
  }

  /// Plans how the mirror would be made in chunks, and writes the plan into `folder`; nothing is decoded but the audio, and one window of
  /// video.
  ///
  /// - Parameters: as of ``start(to:in:jobs:chunks:)``.
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

/// A folder in which an output is made in chunks: see ``Reverser/split(to:in:chunks:_:)``.
public struct ChunkFolder: Sendable {
  public let path: String

  public init(_ path: String) { self.path = path }

  /// Chunks that are done, and those that remain.
  /// - Throws: ``RetrogradeError``.
  public func status() async throws -> ChunkStatus {
    try await Work.perform("status") { try ChunkedReversal(path, $0).status() }
  }

  /// Makes chunks that are not made yet. The wanted ones are all there when it is done: it waits for other
  /// processes that make some of them, and makes those if they die.
  ///
  /// - Parameters:
  ///   - wanted: which of them; nil: the next one that is not being made.
  ///   - resources: limits on the machine's resources for each run.
  ///   - jobs: how many are made at once.
  /// - Returns: the numbers of those that were made.
  /// - Throws: ``RetrogradeError``, in the words of the first that failed when all others were tried.
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
          .usage, about: path, "has chunks 0 to \(plan.chunks.count - 1)",
          remedy: "`retrograde work status \(Shell.quoted(path))` lists them")
      }
      var chunks: [Int] = []
      _ = try chunked.unlessFinished(plan) {
        guard let wanted else {
          chunks = try chunked.make(plan, resources, jobs: jobs, limit: 1).allMade()
          return
        }
        let range = wanted.lowerBound..<wanted.upperBound + 1
        // A chunk that another process is making is left to it until it is done, or dead.
        repeat {
          chunks += try chunked.make(plan, resources, jobs: jobs, only: range).allMade()
        } while try chunked.isAnyLeftByOthers(plan, range)
      }
      return chunks
    }
  }

  /// Makes the output, when all chunks are there.
  ///
  /// - Parameter resources: limits on the machine's resources for comparing the output with its source, if
  ///   the plan asks for that.
  /// - Returns: the progress and the result.
  /// - Throws: ``RetrogradeError``; of code `usage` where chunks are missing, of code `damagedInput` where
  ///   some were changed.
  public func join(resources: Resources = Resources()) -> Reversal {
    Reversal { try ChunkedReversal(path, $0).joinAll(resources) }
  }
}

/// How far the work in a folder is.
public struct ChunkStatus: Sendable, Codable {
  public struct Chunk: Sendable, Codable {
    public enum State: String, Sendable, Codable {
      case waiting, running, done, failed
    }
    public var number: Int
    public var kind: StreamKind
    /// Part of the output that the chunk is, in seconds.
    public var start: Double
    public var end: Double
    /// Number of frames, for video; 0 for audio.
    public var frames: Int
    public var state: State
    /// The machine, and the process there, that makes it or did.
    public var host: String?
    public var process: Int?
    /// Since when it is as it is, in seconds since 1970.
    public var since: Double?
    /// How long it took.
    public var seconds: Double?
    public var bytes: Int?
    /// Reason of the failure.
    public var reason: String?
  }
  public var output: String
  public var source: String
  public var chunks: [Chunk]
  /// The time that is left, in seconds, if as many are made at once as now; nil while there is nothing to tell it by.
  public var remaining: Double?
}
