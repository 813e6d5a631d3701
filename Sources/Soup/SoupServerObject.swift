import CSoup
import Glibc

/// SoupServer with a single owner: parses a connection's requests and frames the answers.
///
/// Each connection has its own server, since only a server can close a libsoup connection in any
/// state. In libsoup 3.2, `soup_server_message_steal_connection` crashes if the connection has no
/// message (`soup_server_message_io_http1_steal`); with hundreds of clients, some connections have
/// none.
/// Used on the loop's thread only.
final class SoupServerObject {
  private let server: UnsafeMutablePointer<SoupServer>

  /// - Parameters:
  ///   - connection: receives the request events; must outlive this object.
  ///   - quiet: socket for the server to listen on, because libsoup 3.2 to 3.7 closes each
  ///     connection after its first answer if the server has no listener (`request_finished` in
  ///     soup-server.c).
  init?(for connection: Connection, _ quiet: QuietSocket) {
    let type = soup_server_get_type()
    // Keep paths encoded, because RequestPath decodes them.
    var value = GValue()
    g_value_init(&value, GType(5 << G_TYPE_FUNDAMENTAL_SHIFT))
    g_value_set_boolean(&value, 1)
    let object = "raw-paths".withCString { name in
      var name: UnsafePointer<CChar>? = name
      return g_object_new_with_properties(type, 1, &name, &value)
    }
    guard let object else { return nil }
    server = UnsafeMutableRawPointer(object).assumingMemoryBound(to: SoupServer.self)
    guard quiet.isListenedAt(by: server) else { return nil }
    addHandlers(Unmanaged.passUnretained(connection).toOpaque())
  }

  /// Closes the connection.
  deinit {
    soup_server_disconnect(server)
    g_object_unref(UnsafeMutableRawPointer(server))
  }

  /// Starts to read requests of a client.
  func read(_ client: ClientStream) { client.attach(to: server) }

  private func addHandlers(_ connection: UnsafeMutableRawPointer) {
    // `*`, a request target of OPTIONS, is not below `/`, so it needs its own handlers.
    for path in ["/", "*"] {
      let early: SoupServerCallback = { _, _, _, _, data in Connection.at(data)?.headerCame() }
      let whole: SoupServerCallback = { _, _, _, _, data in Connection.at(data)?.requestCame() }
      soup_server_add_early_handler(server, path, early, connection, nil)
      soup_server_add_handler(server, path, whole, connection, nil)
    }
    connect("request-started", connection) { _, message, data in
      guard let message, let data else { return }
      let wroteChunk: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
        Connection.at($1)?.pieceWasSent()
      }
      let started = Message(retaining: message)
      started.connect("wrote-chunk", unsafeBitCast(wroteChunk, to: GCallback.self), data)
      Connection.at(data)?.requestBegan(started)
    }
    connect("request-finished", connection) { Connection.at($2)?.requestEnded(isAnswered: true) }
    connect("request-aborted", connection) { Connection.at($2)?.requestEnded(isAnswered: false) }
  }

  private typealias Signal =
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void

  private func connect(
    _ signal: String, _ data: UnsafeMutableRawPointer, _ function: @escaping Signal
  ) {
    // Same cast as G_CALLBACK in C. The signal is emitted with the arguments of the function's own
    // type.
    g_signal_connect_data(
      UnsafeMutableRawPointer(server), signal, unsafeBitCast(function, to: GCallback.self), data,
      nil, GConnectFlags(rawValue: 0))
  }
}

extension Connection {
  /// - Parameter data: the connection, which outlives its server.
  fileprivate static func at(_ data: UnsafeMutableRawPointer?) -> Connection? {
    data.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Socket that never gets a connection, for servers to listen on.
///
/// libsoup's own listeners cannot be paused, and leak a GSocket for each connection before 3.4
/// (`listen_watch` in soup-listener.c).
final class QuietSocket {
  private let ends: (Int32, Int32)

  init?() {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    self.ends = (ends[0], ends[1])
  }

  deinit {
    close(ends.0)
    close(ends.1)
  }

  /// Makes a server listen on a duplicate of the socket; returns false if this fails. The server
  /// closes the duplicate.
  fileprivate func isListenedAt(by server: UnsafeMutablePointer<SoupServer>) -> Bool {
    let descriptor = fcntl(ends.0, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return false }
    guard let socket = g_socket_new_from_fd(descriptor, nil) else {
      close(descriptor)
      return false
    }
    defer { g_object_unref(UnsafeMutableRawPointer(socket)) }
    return soup_server_listen_socket(server, socket, SoupServerListenOptions(rawValue: 0), nil) != 0
  }
}
