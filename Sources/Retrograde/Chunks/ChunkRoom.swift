import Glibc
import RetrogradeEngine
import Paths

/// Disk space needed by the remaining work, estimated from the plan's bit rates and the finished
/// chunks.
struct ChunkRoom {
  /// Folder, with the needed and the free space on the folder's file system.
  private struct Place {
    var folder: String
    /// Estimated need in bytes; a `Double`, because the estimate may be too large for an `Int`.
    var wanted: Double
    var free: Int

    var wantedBytes: Int { Int(min(wanted, 1e18)) }
  }
  private var places: [Place]

  /// Bytes that `gdppay` writes before each packet in a chunk's file.
  private static let packetHeader = 62.0

  /// - Parameters:
  ///   - wanted: chunks to make; chunks that are already finished need no further space.
  ///   - isJoined: true if the chunks are also joined; joining needs space for the output.
  init(_ plan: ChunkPlan, _ states: ChunkStates, in folder: String, _ wanted: Range<Int>, isJoined: Bool) {
    // Average number of bytes per frame in finished chunks, as an estimate for streams without a
    // bit rate.
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

  /// Checks, before the work begins, that enough space is free. The estimate may be too high, so
  /// three quarters of the estimated space suffice.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  func check() throws {
    guard let place = places.first(where: { $0.wanted * 0.75 > Double($0.free) }) else { return }
    throw RetrogradeError(
      .inputOutput, about: place.folder,
      "about \(ByteCount(place.wantedBytes)) is needed here, but only \(ByteCount(place.free)) is free",
      remedy: "free some space, or use another folder")
  }

  /// Returns `error`. If a lack of space caused the error, the returned error also states how much
  /// space is needed.
  func explaining(_ error: any Error) -> any Error {
    guard let error = error as? RetrogradeError, error.code == .inputOutput,
      let place = places.first(where: { $0.wanted > Double($0.free) })
    else { return error }
    let need: Message =
      "free some space in \(place.folder): about \(ByteCount(place.wantedBytes)) is needed, "
      + "and \(ByteCount(place.free)) is free"
    return RetrogradeError(
      error.code, about: error.subject, error.reason, remedy: error.remedy.map { "\(need); \($0)" } ?? need,
      underlying: error.underlying)
  }
}
