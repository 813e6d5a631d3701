import Foundation
import Glibc
import Retrograde
import RetrogradeEngine
import Synchronization
import TestSupport
import Testing

@testable import RetrogradeServer

/// The server on real TCP connections.
@Suite struct ServerTests {
  /// Runs a server of one fake stream while `body` runs.
  private func serving(
    _ stream: FakeStream = FakeStream(), patience: Duration = .seconds(30),
    _ body: (_ port: UInt16, _ path: String, Server) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("film.wav")
    try FakeRequestHandler.wave.write(to: URL(fileURLWithPath: path))
    var settings = ServerSettings(jobs: 1, patience: patience)
    settings.resources.spoolDirectory = folder.url.path
    let server = try Server(settings, Catalog([path])) { _, _, _ in stream }
    let (addresses, tell) = AsyncStream.makeStream(of: String.self)
    let running = Task {
      defer { tell.finish() }
      try await server.run { tell.yield($0) }
    }
    var iterator = addresses.makeAsyncIterator()
    guard let address = await iterator.next(), let port = URL(string: address)?.port.map(UInt16.init) else {
      return try await running.value
    }
    do {
      let info = try await Connection(port).ask("/\(FileID.of(path))/usual/info.json")
      let version = try #require(info.firstMatch(of: /"version":"([0-9a-f]+)"/)).1
      try await body(port, "/\(FileID.of(path))/usual/\(version)/540/", server)
    } catch {
      server.stop()
      throw error
    }
    server.stop()
    try await running.value
  }

  @Test("a connection handles one request after the other")
  func keepAlive() async throws {
    try await serving { port, path, _ in
      let connection = try Connection(port)
      for number in [0, 1, 2, 1] {
        let answer = try await connection.ask("\(path)\(number).m4s")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("\0\(Unicode.Scalar(UInt8(number)))"))
      }
      let head = try await connection.ask("\(path)1.m4s", method: "HEAD")
      #expect(head.contains("\r\nContent-Length: 102\r\n"))
      #expect(head.hasSuffix("\r\n\r\n"))
      #expect(try await connection.ask("\(path)1.m4s", "Range: bytes=3-4\r\n").hasSuffix("\r\n\r\n\u{3}\u{4}"))
    }
  }

  @Test("work stops when its client disconnects")
  func disconnect() async throws {
    let gate = FakeGate()
    try await serving(FakeStream(gate: gate)) { port, path, _ in
      var connection: Connection? = try Connection(port)
      try connection?.send("\(path)2.m4s")
      try await gate.wait { $0.entered == 1 }
      connection = nil
      // This wait is shorter than the server's timeout for a client that reads nothing, so only the
      // disconnect can stop the work.
      try await gate.wait { $0.cancelled == 1 }
    }
  }

  /// Decodes a chunked body (RFC 9112, 7.1); nil if the last chunk is missing.
  private func body(_ answer: [UInt8]) -> [UInt8]? {
    guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    var (rest, body) = (answer[end.upperBound...], [UInt8]())
    while let line = rest.firstRange(of: Array("\r\n".utf8)),
      let count = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16),
      rest.endIndex >= line.upperBound + count + 2
    {
      if count == 0 { return body }
      body += rest[line.upperBound..<line.upperBound + count]
      rest = rest[(line.upperBound + count + 2)...]
    }
    return nil
  }

  @Test("a segment is sent while it is made")
  func streamedSegment() async throws {
    let gate = FakeGate()
    let stream = FakeStream(gate: gate, size: 1000, ahead: 600)
    try await serving(stream) { port, path, _ in
      let connections = try (0..<2).map { _ in try Connection(port) }
      // The second client sends its request after the first client has received part of the
      // segment.
      var begun: [[UInt8]] = []
      for connection in connections {
        try connection.send("\(path)2.m4s", "Connection: close\r\n")
        begun.append(try await connection.some(until: Array(stream.content[..<600])))
        try await gate.wait { $0.entered == 1 }
      }
      #expect(gate.seen.passed == 0)
      gate.open()
      for (connection, some) in zip(connections, begun) {
        #expect(try await body(some + connection.readToEnd()) == stream.content + [0, 2])
      }
      #expect(gate.seen.entered == 1)
      let again = try await Connection(port).ask("\(path)2.m4s")
      #expect(again.contains("\r\nContent-Length: 1002\r\n"))
    }
  }

  @Test("a failure midway truncates the answer")
  func failureMidway() async throws {
    let gate = FakeGate()
    let stream = FakeStream(gate: gate, size: 1000, ahead: 600, fails: true)
    try await serving(stream) { port, path, server in
      let connection = try Connection(port)
      try connection.send("\(path)2.m4s")
      let begun = try await connection.some(until: Array(stream.content[..<600]))
      gate.open()
      let all = try await begun + connection.readToEnd()
      #expect(body(all) == nil, "it is cut off")
      #expect(try await Connection(port).ask("/").hasPrefix("HTTP/1.1 302"), "and the server goes on")
    }
  }

  @Test("a client that disconnects midway stops the work")
  func disconnectMidway() async throws {
    let gate = FakeGate()
    let stream = FakeStream(gate: gate, size: 1000, ahead: 600)
    try await serving(stream) { port, path, _ in
      var connection: Connection? = try Connection(port)
      try connection?.send("\(path)2.m4s")
      _ = try await connection?.some(until: Array(stream.content[..<600]))
      try await gate.wait { $0.entered == 1 }
      connection = nil
      // This wait is shorter than the server's timeout for a client that reads nothing, so only the
      // disconnect can stop the work.
      try await gate.wait { $0.cancelled == 1 }
    }
  }

  @Test("a client that sends nothing or half a request is disconnected")
  func idleSender() async throws {
    try await serving(patience: .milliseconds(300)) { port, path, _ in
      let silent = try Connection(port)
      let slow = try Connection(port)
      try slow.write("GET / HTTP/1.1\r\nHost: local")
      #expect(try await silent.readToEnd().isEmpty)
      #expect(try await slow.readToEnd().isEmpty)
    }
  }

  @Test("a client that reads nothing is disconnected")
  func idleReader() async throws {
    let size = 16 << 20
    let gate = FakeGate()
    try await serving(FakeStream(gate: gate, size: size), patience: .milliseconds(300)) { port, path, server in
      let slow = try Connection(port)
      try slow.send("\(path)2.m4s")
      try await gate.wait { $0.entered == 1 }
      gate.open()
      await server.waitUntilAlone()
      #expect(server.connections == 0)
      #expect(try await slow.readToEnd().count < size, "the rest was never sent")
    }
  }

  @Test(
    "an invalid request is refused",
    arguments: [
      "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}",
      "GET /\u{0} HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
    ])
  func invalidRequest(text: String) async throws {
    try await serving { port, _, _ in
      let connection = try Connection(port)
      try connection.write(text)
      shutdown(connection.descriptor, Int32(SHUT_WR))
      let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
      #expect(answer.isEmpty || answer.prefixMatch(of: /HTTP\/1\.[01] (4\d\d|505)\b/) != nil, "\(answer)")
      #expect(try await Connection(port).ask("/").hasPrefix("HTTP/1.1 302"), "and the server goes on")
    }
  }

  @Test(
    "a request is refused if it does not have exactly one host and a clear length",
    arguments: [
      "Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nHost: evil\r\n", "",
      "Host: a@localhost\r\n", "Host: localhost?x=\r\n",
      "Host: localhost\r\nContent-Length: 0\r\nContent-Length: 0\r\n",
      "Host: localhost\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n",
    ])
  func ambiguousRequest(fields: String) async throws {
    try await serving { port, _, _ in
      let connection = try Connection(port)
      try connection.write("GET / HTTP/1.1\r\n\(fields)\r\n0\r\n\r\n")
      let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
      // libsoup 3.8.0 answers as HTTP/1.0 if it refuses the request while reading the header
      // fields.
      #expect(answer.prefixMatch(of: /HTTP\/1\.[01] 400 Bad Request\r\n/) != nil, "\(answer)")
    }
  }

  @Test("a request for another host is refused, also in an absolute address")
  func absoluteAddress() async throws {
    try await serving { port, _, _ in
      let wrong = try Connection(port)
      try wrong.write("GET http://evil/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let answer = String(decoding: try await wrong.readToEnd(), as: UTF8.self)
      #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
      #expect(try await Connection(port).ask("http://localhost/").hasPrefix("HTTP/1.1 302 "))
    }
  }

  @Test("the connection of an HTTP/1.0 request is closed after the answer")
  func oldRequest() async throws {
    try await serving(FakeStream(size: 1000)) { port, path, _ in
      let connection = try Connection(port)
      try connection.write("GET \(path)2.m4s HTTP/1.0\r\nHost: localhost\r\n\r\n")
      let answer = try await connection.readToEnd()
      #expect(answer.starts(with: Array("HTTP/1.0 200 OK\r\n".utf8)))
      #expect(!answer.contains(Array("chunked".utf8)))
      #expect(answer.suffix(2) == [0, 2])
    }
  }

  @Test("if a segment fails midway, an HTTP/1.0 connection ends with a reset")
  func oldRequestFails() async throws {
    let gate = FakeGate()
    let stream = FakeStream(gate: gate, size: 1000, ahead: 600, fails: true)
    try await serving(stream) { port, path, _ in
      let connection = try Connection(port)
      try connection.write("GET \(path)2.m4s HTTP/1.0\r\nHost: localhost\r\n\r\n")
      _ = try await connection.some(until: Array(stream.content[..<600]))
      gate.open()
      #expect(try await connection.isReset())
    }
  }

  @Test("pipelined requests are answered in their order")
  func pipelined() async throws {
    try await serving { port, path, _ in
      let connection = try Connection(port)
      for number in [0, 1, 2] { try connection.send("\(path)\(number).m4s", method: "HEAD") }
      try connection.send("\(path)1.m4s", "Connection: close\r\n")
      let answer = try await connection.readToEnd()
      let text = String(decoding: answer, as: UTF8.self)
      #expect(text.matches(of: /HTTP\/1.1 200 OK\r\n/).count == 4)
      #expect(answer.suffix(2) == [0, 1])
    }
  }

  @Test("a half-closed connection stops the work on its request")
  func halfClosed() async throws {
    let gate = FakeGate()
    try await serving(FakeStream(gate: gate)) { port, path, _ in
      let connection = try Connection(port)
      try connection.send("\(path)2.m4s")
      try await gate.wait { $0.entered == 1 }
      shutdown(connection.descriptor, Int32(SHUT_WR))
      try await gate.wait { $0.cancelled == 1 }
      #expect(try await connection.readToEnd().isEmpty)
    }
  }

  @Test("idle connections are closed for new ones")
  func manyConnections() async throws {
    try await serving(patience: .seconds(600)) { port, path, server in
      let busy = try Connection(port)
      _ = try await busy.ask("\(path)0.m4s")
      let idle = try (0..<450).map { _ in try Connection(port) }
      #expect(try await Connection(port).ask("\(path)1.m4s").hasPrefix("HTTP/1.1 200"))
      #expect(server.connections <= 400)
      #expect(try await idle[0].readToEnd().isEmpty, "the one that was idle for longest is closed")
    }
  }

  @Test("the server forgets connections that end between two requests", arguments: [false, true])
  func endsBetweenRequests(withReset: Bool) async throws {
    try await serving(patience: .seconds(600)) { port, path, server in
      for _ in 0..<5 {
        let connections = try (0..<100).map { _ in try Connection(port) }
        for connection in connections { _ = try await connection.ask("\(path)0.m4s") }
        for connection in connections where withReset {
          try connection.send("\(path)1.m4s")
          connection.resetsAtItsEnd()
        }
      }
      await server.waitUntilAlone()
      #expect(server.connections == 0)
    }
  }

  @Test("the server can listen on an IPv6 address")
  func listensAtIPv6() async throws {
    let folder = try TemporaryFolder()
    try FakeRequestHandler.wave.write(to: folder.url.appending(path: "film.wav"))
    var settings = ServerSettings(host: "::1")
    settings.resources.spoolDirectory = folder.url.path
    let server = try Server(settings, Catalog([folder.path("film.wav")])) { _, _, _ in FakeStream() }
    let address = Mutex("")
    try await server.run { text in
      address.withLock { $0 = text }
      server.stop()
    }
    #expect(address.withLock { $0 }.wholeMatch(of: /http:\/\/\[::1\]:\d+\//) != nil)
  }

  @Test("a host name of another machine is an error", arguments: ["192.0.2.1", "no.such.invalid"])
  func foreignHost(host: String) async throws {
    let folder = try TemporaryFolder()
    try FakeRequestHandler.wave.write(to: folder.url.appending(path: "film.wav"))
    var settings = ServerSettings(host: host)
    settings.resources.spoolDirectory = folder.url.path
    let server = try Server(settings, Catalog([folder.path("film.wav")])) { _, _, _ in FakeStream() }
    let error = await #expect(throws: RetrogradeError.self) { try await server.run { _ in } }
    #expect(error?.code == .inputOutput)
    #expect(error?.description.hasPrefix("\(host):0: ") ?? false, "\(error?.description ?? "")")
  }

  @Test("stopping ends all requests at once")
  func stopping() async throws {
    let gate = FakeGate()
    try await serving(FakeStream(gate: gate)) { port, path, server in
      let connections = try (0..<3).map { _ in try Connection(port) }
      for (number, connection) in connections.enumerated() { try connection.send("\(path)\(number).m4s") }
      try await gate.wait { $0.entered == 1 }
      server.stop()
      for connection in connections { _ = try await connection.readToEnd() }
      try await gate.wait { $0.cancelled == 1 }
    }
  }

  @Test("a port in use is an error")
  func portInUse() async throws {
    try await serving { port, _, _ in
      let folder = try TemporaryFolder()
      try FakeRequestHandler.wave.write(to: folder.url.appending(path: "film.wav"))
      var settings = ServerSettings(port: Int(port))
      settings.resources.spoolDirectory = folder.url.path
      let second = try Server(settings, Catalog([folder.path("film.wav")])) { _, _, _ in FakeStream() }
      let error = await #expect(throws: RetrogradeError.self) { try await second.run { _ in } }
      #expect(error?.code == .inputOutput)
      #expect(
        error?.description
          == "127.0.0.1:\(port): another program is listening there; use another --port, or --port 0 for a free one")
    }
  }
}

/// A client connection that sends exactly the bytes of a test.
private final class Connection: Sendable {
  let descriptor: Int32

  init(_ port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard isConnected else { throw CocoaError(.fileReadUnknown) }
  }

  deinit { close(descriptor) }

  /// Makes the connection end with a reset, as if the client no longer wanted the answer.
  func resetsAtItsEnd() {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
  }

  func write(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard Glibc.send(descriptor, bytes, bytes.count, Int32(truncatingIfNeeded: Int(MSG_NOSIGNAL))) == bytes.count else {
      throw CocoaError(.fileWriteUnknown)
    }
  }

  func send(_ path: String, _ fields: String = "", method: String = "GET") throws {
    try write("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
  }

  /// Sends a request and reads the answer, up to the length that its header declares.
  func ask(_ path: String, method: String = "GET", _ fields: String = "") async throws -> String {
    try send(path, fields, method: method)
    return try await onOwnThread("client", Cancellation()) { [self] in
      var answer = ""
      while true {
        guard let bytes = try some() else { throw CocoaError(.fileReadUnknown) }
        answer += String(decoding: bytes, as: UTF8.self)
        if answer.lowercased().contains("transfer-encoding: chunked") {
          if answer.hasSuffix("\r\n0\r\n\r\n") { return answer }
          continue
        }
        guard let end = answer.firstRange(of: "\r\n\r\n") else { continue }
        let length = answer.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
        if method == "HEAD" || answer[end.upperBound...].utf8.count >= length { return answer }
      }
    }
  }

  /// Reads until `bytes` have arrived.
  func some(until bytes: [UInt8]) async throws -> [UInt8] {
    try await onOwnThread("client", Cancellation()) { [self] in
      var all: [UInt8] = []
      while !all.contains(bytes) {
        guard let more = try some() else { throw CocoaError(.fileReadUnknown) }
        all += more
      }
      return all
    }
  }

  /// Reads until the server closes the connection.
  func readToEnd() async throws -> [UInt8] {
    try await onOwnThread("client", Cancellation()) { [self] in
      var all: [UInt8] = []
      while let bytes = try some() { all += bytes }
      return all
    }
  }

  /// Waits for the end of the connection. Returns true if the server ends it with a reset.
  func isReset() async throws -> Bool {
    try await onOwnThread("client", Cancellation()) { [self] in
      var bytes = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count <= 0 { return count < 0 && errno == ECONNRESET }
      }
    }
  }

  /// Reads the next bytes; nil if the server has closed the connection. Blocks.
  private func some() throws -> ArraySlice<UInt8>? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
    guard count > 0 else { throw CocoaError(.fileReadUnknown) }
    return bytes[..<count]
  }
}
