import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// The work folder of a run in chunks, after runs that ended at the worst moments, or while other
/// runs use the folder.
@Suite struct WorkFolderTests {
  private let folder: TemporaryFolder
  private let source: String
  private let work: String
  private let output: String

  init() throws {
    folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(20, rate: 30)
    media.video = "x264enc key-int-max=10 speed-preset=ultrafast ! h264parse"
    source = try media.write(to: folder)
    (work, output) = (folder.path("work"), folder.path("out.mp4"))
  }

  private func reverser(crf: Int = 30) -> Reverser {
    var options = ReverseOptions()
    options.encoding.constantRateFactor = crf
    return Reverser(source, options: options)
  }

  private func run(_ reverser: Reverser) async throws {
    _ = try await reverser.start(to: output, in: work, chunks: .about(.seconds(0.3))).summary()
  }

  private func split(_ reverser: Reverser) async throws {
    try await reverser.split(to: output, in: work, chunks: .about(.seconds(0.3)))
  }

  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Opens the run in the folder, and reads its plan.
  private func opened() throws -> (ChunkedReversal, ChunkPlan) {
    let chunked = ChunkedReversal(work, Work())
    return (chunked, try chunked.folder.knownPlan())
  }

  /// Leaves the folder in the state after a run that was killed right after its output got its
  /// name.
  private func joinAndLeaveTheFolder() async throws {
    try await split(reverser())
    try await ChunkFolder(work).make(0...1)
    let (chunked, plan) = try opened()
    var states = ChunkStates(plan)
    try states.update(from: chunked.folder.journal)
    _ = try ChunkJoin(chunked.folder, plan, states.done.compactMap { $0 }, Resources(), Work()).run()
  }

  @Test("a run that was killed after its output got its name counts as finished")
  func endedAfterOutput() async throws {
    try await joinAndLeaveTheFolder()
    let made = FileStamp(output)
    try await run(reverser())
    #expect(FileStamp(output) == made)
    #expect(!exists(work))
  }

  @Test("an interrupted removal of a work folder is completed")
  func endedRemoval() async throws {
    try await joinAndLeaveTheFolder()
    for name in ["chunk-00000", "index-0"] { try FileManager.default.removeItem(atPath: "\(work)/\(name)") }
    _ = try await ChunkFolder(work).join().summary()
    #expect(!exists(work))
  }

  @Test("another file with the output's name is not mistaken for the output")
  func otherOutput() async throws {
    try await joinAndLeaveTheFolder()
    try Data("mine".utf8).write(to: URL(fileURLWithPath: output))
    let error = await #expect(throws: RetrogradeError.self) { try await run(reverser()) }
    #expect(error?.code == .cannotCreateOutput)
    #expect(try bytes(output) == Data("mine".utf8))
    #expect(exists("\(work)/plan.json"))
  }

  @Test("chunks without a plan are not reused")
  func leftoverChunks() async throws {
    try await split(reverser(crf: 50))
    try await ChunkFolder(work).make(0...1)
    try FileManager.default.removeItem(atPath: "\(work)/plan.json")
    try await run(reverser())
    let mirror = try bytes(output)
    try FileManager.default.removeItem(atPath: output)
    try await run(reverser())
    #expect(try bytes(output) == mirror)
  }

  @Test("a removal that was interrupted after removing the plan is completed")
  func removedPlan() async throws {
    try await split(reverser())
    for name in ["index-0", "plan.json"] { try FileManager.default.removeItem(atPath: "\(work)/\(name)") }
    try Data().write(to: URL(fileURLWithPath: output))
    let error = await #expect(throws: RetrogradeError.self) { try await run(reverser()) }
    #expect(error?.code == .cannotCreateOutput)
    #expect(!exists(work))
  }

  @Test("a run whose work folder was removed counts as finished only if the output is new")
  func removedFolder() async throws {
    try Data("old".utf8).write(to: URL(fileURLWithPath: output))
    for isMade in [false, true] {
      var reverser = reverser()
      reverser.options.output.overwrites = true
      try await split(reverser)
      let (chunked, plan) = try opened()
      func work() throws -> Bool? {
        try chunked.unlessFinished(plan) {
          if isMade { try Data("new".utf8).write(to: URL(fileURLWithPath: output)) }
          try chunked.folder.remove(Cancellation())
          _ = try chunked.make(plan, Resources(), jobs: 2)
          return true
        }
      }
      if isMade {
        #expect(try work() == nil)
      } else {
        let error = #expect(throws: RetrogradeError.self) { try work() }
        #expect(error?.description.contains("was removed before \(output) was finished") ?? false)
      }
      #expect(!exists(self.work))
    }
  }

  @Test("a run notices that its plan was replaced")
  func replacedPlan() async throws {
    try await split(reverser())
    let (chunked, plan) = try opened()
    try FileManager.default.removeItem(atPath: work)
    try await split(reverser(crf: 50))
    #expect(!chunked.folder.isThere)
    #expect(throws: RetrogradeError.self) { try chunked.make(plan, Resources(), jobs: 1) }
    #expect(try await ChunkFolder(work).status().chunks.allSatisfy { $0.state == .waiting })
  }

  @Test("a work folder with files that no run writes is refused and kept")
  func ownFiles() async throws {
    for name in [
      "plan.json", "journal", "locks", "index-0", "chunk-00012", "chunk-123456", "slurm-12_3.out", "submit-chunks.sh",
      "submit-join.sh", ".retrograde-1x2y",
    ] { #expect(WorkFolder.isOurs(name), "\(name)") }
    let others = ["chunk-1.mov", "chunk-00001.mov", "index-.html", "slurm-notes", "submit-me.txt", "journal.txt"]
    for name in others {
      #expect(!WorkFolder.isOurs(name), "\(name)")
      try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(work)/\(name)"))
    }
    let error = await #expect(throws: RetrogradeError.self) { try await run(reverser()) }
    #expect(error?.code == .cannotCreateOutput)
    #expect(try FileManager.default.contentsOfDirectory(atPath: work).sorted() == others.sorted())
  }

  @Test("a work folder that can't be created is reported", arguments: ["a file", "a link that leads nowhere"])
  func impossibleFolder(_ kind: String) async throws {
    if kind == "a file" {
      try Data().write(to: URL(fileURLWithPath: work))
    } else {
      try FileManager.default.createSymbolicLink(atPath: work, withDestinationPath: folder.path("nowhere"))
    }
    let error = await #expect(throws: RetrogradeError.self) { try await run(reverser()) }
    #expect(error?.code == .cannotCreateOutput)
    #expect(error?.description.contains("\(work): can't be created") ?? false)
  }

  @Test("two runs that start together share one plan")
  func simultaneousRuns() async throws {
    var reverser = reverser()
    reverser.options.output.overwrites = true
    async let one: Void = run(reverser)
    async let other: Void = run(reverser)
    _ = try await (one, other)
    #expect(exists(output))
    #expect(!exists(work))
  }

  @Test("the memory limit determines the number of concurrent chunks")
  func memoryLimit() async throws {
    try await split(reverser())
    let (_, plan) = try opened()
    #expect(plan.usualJobs(with: ByteCount(0)) == 1)
    // The frames are 96x64 in 4:2:0, and each job holds eight of them.
    #expect(plan.usualJobs(with: ByteCount(2 * 8 * 96 * 64 * 3 / 2 - 1)) == 1)
    #expect(plan.usualJobs(with: ByteCount(1 << 40)) <= plan.chunks.count)
  }

  @Test("a plan with too many frames is refused")
  func tooManyFrames() async throws {
    var media = TestMedia.matroska
    (media.name, media.times) = ("long.mkv", TestMedia.regular(200, rate: 30))
    media.video = "x264enc key-int-max=10 speed-preset=ultrafast ! h264parse"
    var options = ReverseOptions()
    options.playback.count = 100_000
    let reverser = Reverser(try media.write(to: folder), options: options)
    let error = await #expect(throws: RetrogradeError.self) { try await split(reverser) }
    #expect(
      error?.description.contains("more than \(OutputPlan.mostPlannedFrames) frames; lower `playback.count`") ?? false)
    #expect(!exists(work))
  }

  /// Changes the plan, and writes it back to `plan.json`.
  private func change(_ body: (inout ChunkPlan) -> Void) throws {
    var (_, plan) = try opened()
    body(&plan)
    try JSONEncoder().encode(plan).write(to: URL(fileURLWithPath: "\(work)/plan.json"))
  }

  @Test("a run without enough disk space does not start")
  func noSpace() async throws {
    try await split(reverser())
    try change { $0.chunks[1].bytes = 1 << 60 }
    let errors = [
      await #expect(throws: RetrogradeError.self) { try await run(reverser()) },
      await #expect(throws: RetrogradeError.self) { try await ChunkFolder(work).make(0...1) },
    ]
    for error in errors {
      #expect(error?.code == .inputOutput)
      #expect(error?.description.contains("TiB is needed here, but only ") ?? false)
    }
    // The disk has room for the requested chunk.
    try await ChunkFolder(work).make(0...0)
    #expect(try await ChunkFolder(work).status().chunks.map(\.state) == [.done, .waiting])
  }

  @Test("the error about a full disk gives the space that is needed")
  func fullDisk() async throws {
    try await split(reverser())
    try change { $0.chunks[1].bytes = 1 << 60 }
    let (chunked, plan) = try opened()
    let room = ChunkRoom(plan, ChunkStates(plan), in: chunked.folder.path, 0..<2, isJoined: true)
    let full = RetrogradeError(.inputOutput, about: "chunk", "the disk is full", remedy: "try again")
    let words = (room.explaining(full) as? RetrogradeError)?.description
    #expect(words?.hasPrefix("chunk: the disk is full; free some space in \(work): about 909495 TiB ") ?? false)
    #expect(words?.hasSuffix(" is free; try again") ?? false)
    let other = RetrogradeError(.damagedInput, "is damaged")
    #expect((room.explaining(other) as? RetrogradeError)?.description == "is damaged")
  }

  /// The size is an estimate, because an encoder reaches a bit rate only approximately.
  @Test("the disk space for a chunk is computed from the chunk's bit rate")
  func chunkSpace() async throws {
    var reverser = reverser()
    (reverser.options.encoding.constantRateFactor, reverser.options.encoding.bitrate) = (nil, 80_000)
    try await split(reverser)
    let chunks = try opened().1.chunks
    let bytes = chunks.map { ($0.bytes ?? 0) }
    // All chunks together last two thirds of a second. At 80,000 bit/s, this is 6,667 bytes.
    #expect(abs(bytes.reduce(0, +) - 6667) < 670, "\(bytes)")
    for chunk in chunks {
      let rate = chunk.settings["bitrate"].flatMap { Double($0) } ?? 80
      #expect(
        abs(Double(chunk.bytes ?? 0) - rate * 125 * chunk.span.duration.seconds) < 126 * chunk.span.duration.seconds)
    }
  }

  @Test("a run waits for a chunk that another run is making, and makes the chunk if that run dies")
  func lockedChunk() async throws {
    try await split(reverser())
    let (chunked, plan) = try opened()
    var held = try chunked.folder.locks.take(1)
    #expect(held != nil)
    // While chunk 1 is locked, a run that may choose makes only unlocked chunks. A run that must
    // make chunk 1 waits for this chunk.
    #expect(try chunked.make(plan, Resources(), jobs: 1).chunks == [0])
    async let made = ChunkFolder(work).make(1...1)
    #expect(try await ChunkFolder(work).make(0...0) == [])
    held = nil
    #expect(try await made == [1])
    withExtendedLifetime(held) {}
  }

  @Test("number ranges are printed in a short form")
  func numberRanges() {
    #expect(NumberRanges([3, 7, 8, 9]).text(separator: ", ") == "3, 7-9")
    #expect(NumberRanges([0, 2, 4]).text(separator: ",", atMost: 2) == "0,2 …")
    #expect(NumberRanges([]).text(separator: ",") == "")
  }
}
