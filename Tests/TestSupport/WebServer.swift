import Foundation
import Glibc
import Synchronization

/// HTTP/1.1 server on localhost for the files of a folder. The first component of the path selects
/// how a file is served: `http://127.0.0.1:1234/ranges/a.mp4`.
package final class WebServer: Sendable {
  package enum Manner: String, Sendable, CaseIterable {
    /// Sends the whole file, with its length.
    case plain
    /// Sends the requested range.
    case ranges
    /// Sends the whole file in chunks, without its length.
    case chunked
    /// Sends half of the file, but declares the whole length; then disconnects. Ignores requested
    /// ranges.
    case cut
    /// Sends half of the requested range; then disconnects.
    case halves
    /// Sends half of the file in chunks; then disconnects.
    case cutChunks
    /// Redirects to the plain file.
    case moved
    /// Sends half of the file, then nothing until the client disconnects.
    case stalled
  }

  package let port: UInt16
  private let listener: Int32
  private let folder: URL
  private let paths = Mutex<[String]>([])

  package init(_ folder: TemporaryFolder) throws {
    self.folder = folder.url
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard listener >= 0, isBound else { throw CocoaError(.fileReadUnknown) }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let accepting = Thread { [listener, weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        guard let self else {
          close(connection)
          return
        }
        Thread { self.serve(connection) }.start()
      }
    }
    accepting.start()
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  package func address(_ name: String, _ manner: Manner = .plain) -> String {
    "http://127.0.0.1:\(port)/\(manner.rawValue)/\(name)"
  }

  /// The requested paths, in order.
  package var requests: [String] { paths.withLock { $0 } }

  private func serve(_ connection: Int32) {
    defer { close(connection) }
    var request = ""
    while !request.contains("\r\n\r\n") {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = recv(connection, &bytes, bytes.count, 0)
      guard count > 0 else { return }
      request += String(decoding: bytes.prefix(count), as: UTF8.self)
    }
    let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    paths.withLock { $0.append(path) }
    let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2, let manner = Manner(rawValue: parts[0]),
      let name = parts[1].removingPercentEncoding,
      let all = try? Data(contentsOf: folder.appending(path: name))
    else {
      return send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", to: connection)
    }
    let start = request.firstMatch(of: /[Rr]ange: bytes=(\d+)-/).flatMap { Int($0.1) }
    answer(all, manner, parts[1], from: start, on: connection)
  }

  private func answer(_ all: Data, _ manner: Manner, _ name: String, from start: Int?, on connection: Int32) {
    let half = all.prefix(all.count / 2)
    let whole = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
    switch manner {
    case .plain, .cut, .stalled:
      send("\(whole)Content-Length: \(all.count)\r\n\r\n", to: connection)
      send(manner == .plain ? all : half, to: connection)
      var byte: UInt8 = 0
      if manner == .stalled { _ = recv(connection, &byte, 1, 0) }
    case .ranges, .halves:
      let part = all.dropFirst(start ?? 0)
      let status =
        start.map { "206 Partial Content\r\nContent-Range: bytes \($0)-\(all.count - 1)/\(all.count)" } ?? "200 OK"
      send(
        "HTTP/1.1 \(status)\r\nConnection: close\r\nAccept-Ranges: bytes\r\nContent-Length: \(part.count)\r\n\r\n",
        to: connection)
      send(manner == .ranges ? part : part.prefix(max(part.count / 2, 1)), to: connection)
    case .chunked, .cutChunks:
      send("\(whole)Transfer-Encoding: chunked\r\n\r\n", to: connection)
      let body = manner == .chunked ? all : half
      send("\(String(body.count, radix: 16))\r\n", to: connection)
      send(body, to: connection)
      if manner == .chunked { send("\r\n0\r\n\r\n", to: connection) }
    case .moved:
      send(
        "HTTP/1.1 302 Found\r\nLocation: \(address(name))\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        to: connection)
    }
  }

  private func send(_ text: String, to connection: Int32) { send(Data(text.utf8), to: connection) }

  private func send(_ data: Data, to connection: Int32) {
    data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.send(
          connection, bytes.baseAddress.map { $0 + done }, bytes.count - done,
          Int32(truncatingIfNeeded: Int(MSG_NOSIGNAL)))
        guard count > 0 else { return }
        done += count
      }
    }
  }
}
