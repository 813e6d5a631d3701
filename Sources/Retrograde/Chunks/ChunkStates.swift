import RetrogradeEngine

/// States of a plan's chunks according to the journal.
struct ChunkStates: Sendable {
  /// Last event of each chunk; nil for a chunk without events.
  private(set) var last: [Journal.Event?]
  /// `done` event of each finished chunk; nil for unfinished chunks.
  private(set) var done: [Journal.Event?]
  /// Stamps of the output and the subtitle file, taken when both files were complete, but still had
  /// temporary names.
  private(set) var joined: (output: FileStamp?, subtitles: FileStamp?)
  private var place = 0

  init(_ plan: ChunkPlan) {
    last = Array(repeating: nil, count: plan.chunks.count)
    done = last
  }

  /// Reads the events added since the last call.
  mutating func update(from journal: Journal) throws {
    let (events, end) = try journal.events(from: place)
    place = end
    for event in events { add(event) }
  }

  /// Updates the states with an event. Adding the same event twice has no further effect.
  mutating func add(_ event: Journal.Event) {
    if event.event == .joined { joined = (event.output, event.subtitles) }
    guard let chunk = event.chunk, last.indices.contains(chunk) else { return }
    last[chunk] = event
    switch event.event {
    case .done:
      done[chunk] = event
    case .lost:
      done[chunk] = nil
    case .begun, .failed, .joined: break
    }
  }

  /// Numbers of the chunks that are not finished.
  var missing: [Int] { done.indices.filter { done[$0] == nil } }
}
