import Glibc
import RetrogradeEngine
import Paths

/// Disk space that the rest of the work takes, estimated from the plan's rates and from the finished chunks.
struct ChunkRoom {
  /// A file system, the work that needs room there, and how much.
  private struct Place {
    var folder: String
    /// In bytes: estimates, which may be of any size.
    var wanted: Double
    var free: Int

    var wantedBytes: Int { Int(min(wanted, 1e18)) }
  }
  private var places: [Place]

  /// Bytes before a packet in a file of packets (`gdppay`).
  private static let packetHeader = 62.0

  /// - Parameters:
  ///   - wanted: the chunks that are to be made, as far as they are not.
  ///   - isJoined: whether the output is made too.
  init(_ plan: ChunkPlan, _ states: ChunkStates, in folder: String, _ wanted: Range<Int>, isJoined: Bool) {
    // Bytes and frames of all finished chunks: a stream without a rate is taken to need as much for each
    // frame.
    var (doneBytes, doneFrames) = (0.0, 0.0)
    for (chunk, event) in zip(plan.chunks, states.done) where chunk.frames > 0 {
      guard let bytes = event?.file?.bytes else { continue }
      doneBytes += Double(bytes)
      doneFrames += Double(chunk.frames)
    }
    let frame = doneFrames > 0 ? doneBytes / doneFrames : 0
    var (chunks, output) = (0.0, 0.0)
    for (number, chunk) in plan.chunks.enumerated() {
      if let made = states.done[number] {
        let headers = Double(made.content?.packets ?? 0) * ChunkRoom.packetHeader
        output += max(0, Double(made.file?.bytes ?? 0) - headers)
      } else {
        let bytes = chunk.bytes.map(Double.init) ?? frame * Double(chunk.frames)
        output += bytes
        if wanted.contains(number) { chunks += bytes }
      }
    }
    let target = OutputPlace(plan.output).folder
    places = [Place(folder: folder, wanted: chunks, free: Spool.room(in: folder))]
    guard isJoined else { return }
    if ChunkRoom.device(folder) == ChunkRoom.device(target) {
      places[0].wanted += output
    } else {
      places.append(Place(folder: target, wanted: output, free: Spool.room(in: target)))
    }
  }

  private static func device(_ path: String) -> dev_t? {
    var info = stat()
    return stat(path.cPath, &info) == 0 ? info.st_dev : nil
  }

  /// Finds out whether there is room, before the work begins. These are estimates: only where three quarters do not fit either, it is
  /// certain enough that there is none.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  func check() throws {
    guard let place = places.first(where: { $0.wanted * 0.75 > Double($0.free) }) else { return }
    throw RetrogradeError(
      .inputOutput, about: place.folder,
      "about \(ByteCount(place.wantedBytes)) is needed here, and \(ByteCount(place.free)) is free",
      remedy: "make room, or name another folder")
  }

  /// `error`, with how much room is wanted where it came of there being too little.
  func explaining(_ error: any Error) -> any Error {
    guard let error = error as? RetrogradeError, error.code == .inputOutput,
      let place = places.first(where: { $0.wanted > Double($0.free) })
    else { return error }
    let need: Message =
      "about \(ByteCount(place.wantedBytes)) is needed in \(place.folder), and \(ByteCount(place.free)) is free: make room"
    return RetrogradeError(
      error.code, about: error.subject, error.reason, remedy: error.remedy.map { "\(need); \($0)" } ?? need,
      underlying: error.underlying)
  }
}
