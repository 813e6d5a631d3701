import CSoup
import Glibc

/// A SoupServer, of which this is the one owner.
///
/// Used on the loop's thread only.
final class SoupServerObject {
  private let server: UnsafeMutablePointer<SoupServer>
  /// The far end of ``keepKeepAlive()``'s socket.
  private var pair: Int32 = -1

  init?() {
    let type = soup_server_get_type()
    // Paths stay as they were written: RequestPath decodes them.
    var value = GValue()
    g_value_init(&value, GType(5 << G_TYPE_FUNDAMENTAL_SHIFT))
    g_value_set_boolean(&value, 1)
    let object = "raw-paths".withCString { name in
      var name: UnsafePointer<CChar>? = name
      return g_object_new_with_properties(type, 1, &name, &value)
    }
    guard let object else { return nil }
    server = UnsafeMutableRawPointer(object).assumingMemoryBound(to: SoupServer.self)
    guard keepKeepAlive() else { return nil }
  }

  deinit {
    soup_server_disconnect(server)
    g_object_unref(UnsafeMutableRawPointer(server))
    if pair >= 0 { close(pair) }
  }

  /// Gives the server a listener at which nobody ever calls.
  ///
  /// libsoup 3.2 to 3.7 closes each connection after its first answer if the server has no
  /// listener (`request_finished` in soup-server.c). Its own listeners are not used because they
  /// can't be told to wait, and leak a GSocket for each connection before 3.4 (`listen_watch` in
  /// soup-listener.c).
  private func keepKeepAlive() -> Bool {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return false }
    pair = ends[1]
    guard let socket = g_socket_new_from_fd(ends[0], nil) else {
      close(ends[0])
      return false
    }
    defer { g_object_unref(UnsafeMutableRawPointer(socket)) }
    return soup_server_listen_socket(server, socket, SoupServerListenOptions(rawValue: 0), nil) != 0
  }

  /// Calls `early` with each request whose header has come, and `whole` when all of it has.
  func handle(
    early: @escaping SoupServerCallback, whole: @escaping SoupServerCallback,
    _ data: UnsafeMutableRawPointer
  ) {
    // `*` is what OPTIONS may ask for; it is below no path.
    for path in ["/", "*"] {
      soup_server_add_early_handler(server, path, early, data, nil)
      soup_server_add_handler(server, path, whole, data, nil)
    }
  }

  /// Calls a function of the signal's type each time that the server emits it.
  func connect(_ signal: String, _ function: GCallback, _ data: UnsafeMutableRawPointer) {
    g_signal_connect_data(
      UnsafeMutableRawPointer(server), signal, function, data, nil, GConnectFlags(rawValue: 0))
  }

  /// Reads requests of a client from now on.
  func add(_ client: ClientStream) { client.hand(to: server) }
}
