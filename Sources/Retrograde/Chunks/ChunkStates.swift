import RetrogradeEngine

/// States of a plan's chunks by the journal.
struct ChunkStates: Sendable {
  /// The last event of each chunk; nil where nothing has happened.
  private(set) var last: [Journal.Event?]
  /// The events that say that one is done.
  private(set) var done: [Journal.Event?]
  /// The output, and the file of subtitles, as they were when they were whole and about to get their names.
  private(set) var joined: (output: FileStamp?, subtitles: FileStamp?)
  private var place = 0

  init(_ plan: ChunkPlan) {
    last = Array(repeating: nil, count: plan.chunks.count)
    done = last
  }

  /// Reads the events that were written since.
  mutating func update(from journal: Journal) throws {
    let (events, end) = try journal.events(from: place)
    place = end
    for event in events { add(event) }
  }

  /// Takes in an event; one that is known already changes nothing.
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

  /// The chunks that are not done.
  var missing: [Int] { done.indices.filter { done[$0] == nil } }
}
