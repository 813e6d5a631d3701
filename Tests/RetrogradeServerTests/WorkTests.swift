import Foundation
import RetrogradeEngine
import Synchronization
import TestSupport
import Testing

@testable import RetrogradeServer

/// Shared work, limits on concurrent work, and cached results.
@Suite struct WorkTests {
  @Test("a value requested by many callers is made once")
  func sharedWork() async throws {
    let works = SingleFlight<String, Int>()
    let gate = FakeGate()
    let all = (0..<20).map { _ in
      Task {
        try await works.value("a") { token in
          try await onOwnThread("a", token) { try gate.pass(token) }; return 7
        }
      }
    }
    try await gate.wait { $0.entered == 1 }
    gate.open()
    for task in all { #expect(try await task.value == 7) }
    #expect(gate.seen.entered == 1)
    #expect(works.count == 0)
  }

  @Test("work continues as long as a client waits for it")
  func waitingClients() async throws {
    let works = SingleFlight<String, Int>()
    let gate = FakeGate()
    let body: @Sendable (Cancellation) async throws -> Int = { token in
      try await onOwnThread("a", token) { try gate.pass(token) }
      return 7
    }
    let first = Task { try await works.value("a", body) }
    try await gate.wait { $0.entered == 1 }
    let second = Task { try await works.value("a", body) }
    while works.waiting(for: "a") < 2 { await Task.yield() }
    first.cancel()
    while works.waiting(for: "a") > 1 { await Task.yield() }
    #expect(gate.seen.cancelled == 0)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(gate.seen == .init(entered: 1, passed: 0, cancelled: 1))
    gate.open()
    #expect(try await works.value("a", body) == 7, "cancelled work can start again")
  }

  /// Returns a producer of 100 bytes: 60 at once, and the rest when the gate is opened.
  private func making(_ gate: FakeGate) -> SingleFlightStreams.Producer {
    { token, give in
      give(Array(0..<60))
      try await onOwnThread("a", token) { try gate.pass(token) }
      give(Array(60..<100))
    }
  }

  private func flights() -> SingleFlightStreams { SingleFlightStreams { StoredBytes($1) } }

  /// Returns all bytes that a reader gets from `offset` on.
  private func readToEnd(_ reader: PartReader, after offset: Int = 0) async throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      switch try await reader.more(after: offset + all.count) {
      case .bytes(let bytes): all += bytes
      case .whole(let stored): return all + (try stored.read(offset + all.count..<stored.count))
      }
    }
  }

  @Test("a late reader gets the existing bytes, then the rest")
  func lateReader() async throws {
    let flights = flights()
    let gate = FakeGate()
    let first = flights.reader("a", making(gate))
    guard case .bytes(let begun) = try await first.more(after: 0) else { throw FakeGate.Late(seen: gate.seen) }
    #expect(begun == Array(0..<60))
    try await gate.wait { $0.entered == 1 }
    let second = flights.reader("a", making(gate))
    guard case .bytes(let known) = try await second.more(after: 10) else { throw FakeGate.Late(seen: gate.seen) }
    #expect(known == Array(10..<60))
    async let all = (readToEnd(first), readToEnd(second), second.whole())
    gate.open()
    let (one, two, stored) = try await all
    #expect(one == Array(0..<100) && two == one)
    #expect(try stored.read(0..<100) == one)
    #expect(gate.seen.entered == 1)
    while flights.count > 0 { await Task.yield() }
  }

  @Test("a failure midway fails all readers")
  func failureMidway() async throws {
    let flights = flights()
    let gate = FakeGate()
    let make: SingleFlightStreams.Producer = { token, give in
      give([1, 2])
      try await onOwnThread("a", token) { try gate.pass(token) }
      throw RetrogradeError(.damagedInput, "damaged")
    }
    let readers = (0..<3).map { _ in flights.reader("a", make) }
    try await gate.wait { $0.entered == 1 }
    let reading = readers.map { reader in Task { try await readToEnd(reader) } }
    gate.open()
    for task in reading { await #expect(throws: RetrogradeError.self) { try await task.value } }
  }

  @Test("work continues as long as there is a reader")
  func lastReader() async throws {
    let flights = flights()
    let gate = FakeGate()
    let first = flights.reader("a", making(gate))
    try await gate.wait { $0.entered == 1 }
    var second: PartReader? = flights.reader("a", making(gate))
    #expect(flights.readers(of: "a") == 2)
    let waiting = Task { try await first.whole() }
    await Task.yield()
    // `leave()` cancels the wait.
    first.leave()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(flights.readers(of: "a") == 1)
    #expect(gate.seen.cancelled == 0)
    _ = second
    second = nil
    try await gate.wait { $0.cancelled == 1 }
    gate.open()
    #expect(try await readToEnd(flights.reader("a", making(gate))) == Array(0..<100), "cancelled work can start again")
  }

  @Test("a cancelled reader stops waiting")
  func cancelledReader() async throws {
    let flights = flights()
    let gate = FakeGate()
    let reader = flights.reader("a", making(gate))
    let task = Task { try await readToEnd(reader) }
    try await gate.wait { $0.entered == 1 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(flights.readers(of: "a") == 1)
    gate.open()
    #expect(try await reader.whole().count == 100)
  }

  @Test("every caller is notified when a part is complete")
  func notifications() async throws {
    let flights = flights()
    let gate = FakeGate()
    let done = Counter()
    let readers = (0..<3).compactMap { _ -> PartReader? in
      let part = flights.part("a", find: { nil }, onMade: { done.add() }, making(gate))
      guard case .begun(let reader) = part else { return nil }
      return reader
    }
    #expect(readers.count == 3)
    try await gate.wait { $0.entered == 1 }
    #expect(done.value == 0)
    gate.open()
    for reader in readers { _ = try await reader.whole() }
    while flights.count > 0 || done.value < 3 { await Task.yield() }
  }

  @Test("a part that was stored before its job ended is not made again")
  func keptBeforeTheEnd() async throws {
    let kept = Guarded<StoredBytes?>(nil)
    let order = Guarded<[Int]>([])
    let gate = FakeGate()
    let flights = SingleFlightStreams { _, bytes in
      kept.value.withLock { $0 = StoredBytes(bytes) }
      try await onOwnThread("a", Cancellation()) { try gate.pass(Cancellation()) }
      return StoredBytes(bytes)
    }
    func part(_ number: Int) -> SingleFlightStreams.Found {
      flights.part(
        "a", find: { kept.value.withLock { $0 } }, onMade: { order.value.withLock { $0.append(number) } }
      ) { $1([7]) }
    }
    let first = part(1)
    try await gate.wait { $0.entered == 1 }
    guard case .begun = first, case .begun(let second) = part(2) else { throw FakeGate.Late(seen: gate.seen) }
    gate.open()
    #expect(try await second.whole().count == 1)
    #expect(order.value.withLock { $0 } == [1, 2], "callers are told in their order, before the part is there")
    guard case .whole = part(3) else { throw FakeGate.Late(seen: gate.seen) }
    #expect(gate.seen.entered == 1)
  }

  /// A value changed by closures on several threads.
  private final class Guarded<Value: Sendable>: Sendable {
    let value: Mutex<Value>
    init(_ first: Value) { value = Mutex(first) }
  }

  @Test("at most as many jobs run at once as there are slots")
  func slots() async throws {
    let line = WorkLine(slots: 2, longest: 100)
    final class Counts: Sendable {
      let values = Mutex((now: 0, most: 0))
    }
    let counts = Counts()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await line.perform(.usual) {
            counts.values.withLock { counts in
              counts.now += 1
              counts.most = max(counts.most, counts.now)
            }
            await Task.yield()
            counts.values.withLock { $0.now -= 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(counts.values.withLock { $0.most } == 2)
    #expect(line.load == (0, 0))
  }

  @Test("the queue runs the most urgent job first, and refuses jobs when it is full")
  func fullQueue() async throws {
    let waited = Counter()
    let line = WorkLine(slots: 1, longest: 3) { waited.add() }
    let gate = FakeGate()
    final class Order: Sendable {
      let names = Mutex<[String]>([])
    }
    let order = Order()
    let holder = Task {
      try await line.perform(.usual) { try await onOwnThread("a", Cancellation()) { try gate.pass(Cancellation()) } }
    }
    try await gate.wait { $0.entered == 1 }
    var tasks: [Task<Void, any Error>] = []
    for (number, urgency) in [WorkLine.Urgency.low, .usual, .high].enumerated() {
      tasks.append(Task { try await line.perform(urgency) { order.names.withLock { $0.append("\(urgency)") } } })
      while line.load.waiting <= number { await Task.yield() }
    }
    await #expect(throws: WorkLine.Busy.self) { try await line.perform(.high) {} }
    tasks[1].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[1].value }
    #expect(line.load == (1, 2))
    gate.open()
    try await holder.value
    try await tasks[0].value
    try await tasks[2].value
    #expect(order.names.withLock { $0 } == ["high", "low"])
    #expect(waited.value == 2, "work of low urgency is not reported")
  }

  @Test("work of low urgency starts only if no more urgent work runs")
  func lowUrgency() async throws {
    let line = WorkLine(slots: 3, longest: 10)
    let (first, second) = (FakeGate(), FakeGate())
    let holders = [first, second].map { gate in
      Task {
        try await line.perform(.high) { try await onOwnThread("a", Cancellation()) { try gate.pass(Cancellation()) } }
      }
    }
    for gate in [first, second] { try await gate.wait { $0.entered == 1 } }
    let low = (0..<2).map { _ in Task { try await line.perform(.low) { line.load.running } } }
    while line.load.waiting < 2 { await Task.yield() }
    #expect(!line.isIdle)
    first.open()
    try await holders[0].value
    #expect(line.load == (1, 2), "one is still under way")
    try await line.perform(.usual) {}
    second.open()
    try await holders[1].value
    for task in low { #expect(try await task.value <= 2) }
    #expect(line.isIdle)
  }

  @Test("the least recently used bytes are removed first")
  func leastRecentlyUsed() throws {
    let folder = try TemporaryFolder()
    let store = try ByteStore(directory: folder.url.path, capacity: 10_000)
    let bytes = { (value: UInt8) in [UInt8](repeating: value, count: 4000) }
    _ = store.add("a", bytes(1))
    _ = store.add("b", bytes(2))
    let held = store.find("b")
    #expect(try store.find("a")?.read(0..<4) == [1, 1, 1, 1])
    _ = store.add("c", bytes(3))
    #expect(store.find("b") == nil)
    #expect(store.find("a") != nil && store.find("c") != nil)
    #expect(store.size == 8000)
    #expect(try held?.read(3999..<5000) == [2], "bytes stay until their reader is done")
    _ = store.add("d", [UInt8](repeating: 4, count: 20_000))
    #expect(store.find("d") == nil, "bytes larger than the store are not kept")
    #expect(store.size == 8000)
  }

  @Test("removed bytes free their disk space")
  func freedSpace() throws {
    let folder = try TemporaryFolder()
    let store = try ByteStore(directory: folder.url.path, capacity: 1 << 20)
    for number in 0..<100 { #expect(store.add("\(number)", [UInt8](repeating: 7, count: 100_000)).isSpooled) }
    #expect(store.size <= 1 << 20)
    let blocks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name -> Int? in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      guard target?.hasPrefix(folder.url.path) ?? false else { return nil }
      var info = stat()
      return stat("/proc/self/fd/\(name)", &info) == 0 ? Int(info.st_blocks) * 512 : nil
    }
    #expect(blocks.count == 1)
    #expect((1..<(2 << 20)).contains(blocks[0]), "\(blocks)")
  }
}
