import CSoup
import Glibc

/// An accepted TCP connection: GLib's objects for it. Owns its descriptor.
///
/// Used on the loop's thread only.
final class ClientStream {
  let descriptor: Int32
  private let stream: UnsafeMutablePointer<GIOStream>
  private let localAddress: UnsafeMutablePointer<GSocketAddress>
  private let remoteAddress: UnsafeMutablePointer<GSocketAddress>

  /// - Parameter socket: its reference is taken over, also if this fails.
  init?(adopting socket: UnsafeMutablePointer<GSocket>) {
    defer { g_object_unref(UnsafeMutableRawPointer(socket)) }
    // Fails if the client is gone already.
    guard let remote = g_socket_get_remote_address(socket, nil) else { return nil }
    guard let local = g_socket_get_local_address(socket, nil),
      let connection = g_socket_connection_factory_create_connection(socket)
    else {
      g_object_unref(UnsafeMutableRawPointer(remote))
      return nil
    }
    descriptor = g_socket_get_fd(socket)
    g_socket_set_option(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1, nil)
    stream = UnsafeMutableRawPointer(connection).assumingMemoryBound(to: GIOStream.self)
    (localAddress, remoteAddress) = (local, remote)
  }

  deinit {
    shut()
    for object in [UnsafeMutableRawPointer(stream), .init(localAddress), .init(remoteAddress)] {
      g_object_unref(object)
    }
  }

  /// true once libsoup or ``shut()`` closed it.
  var isClosed: Bool { g_io_stream_is_closed(stream) != 0 }

  /// Ends the connection, but keeps the descriptor: writes fail from now on, also those that
  /// libsoup waits for on a thread of its own.
  /// - Parameter withReset: the client sees that it did not get all. HTTP/1.0 has no other sign.
  func cut(withReset: Bool) {
    guard !isClosed else { return }
    guard withReset else {
      shutdown(descriptor, Int32(SHUT_RDWR))
      return
    }
    // Disconnects a TCP socket at once (connect(2)).
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    _ = connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
  }

  func shut() { if !isClosed { g_io_stream_close(stream, nil, nil) } }

  /// Makes a server read its requests. Called by ``SoupServerObject``.
  func hand(to server: UnsafeMutablePointer<SoupServer>) {
    soup_server_accept_iostream(server, stream, localAddress, remoteAddress, nil)
  }
}
