import CSoup
import Glibc

/// Accepted TCP connection, as GLib objects. Owns its descriptor.
///
/// Used on the loop's thread only.
final class ClientStream {
  let descriptor: Int32
  private let stream: UnsafeMutablePointer<GIOStream>
  private let localAddress: UnsafeMutablePointer<GSocketAddress>
  private let remoteAddress: UnsafeMutablePointer<GSocketAddress>

  /// - Parameter socket: the reference is consumed, also on failure.
  init?(adopting socket: UnsafeMutablePointer<GSocket>) {
    defer { g_object_unref(UnsafeMutableRawPointer(socket)) }
    // Fails if the client has already disconnected.
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
    closeStream()
    for object in [UnsafeMutableRawPointer(stream), .init(localAddress), .init(remoteAddress)] {
      g_object_unref(object)
    }
  }

  /// True if libsoup or ``closeStream()`` has closed the connection.
  var isClosed: Bool { g_io_stream_is_closed(stream) != 0 }

  /// Ends the connection but keeps the descriptor. All later writes fail, and so does a write that
  /// is blocking a libsoup thread.
  /// - Parameter withReset: true to send a TCP reset. In HTTP/1.0, only a reset shows the client
  ///   that the body is incomplete.
  func cut(withReset: Bool) {
    guard !isClosed else { return }
    guard withReset else {
      shutdown(descriptor, Int32(SHUT_RDWR))
      return
    }
    // Connecting to AF_UNSPEC disconnects a TCP socket immediately.
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    _ = connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
  }

  func closeStream() { if !isClosed { g_io_stream_close(stream, nil, nil) } }

  /// Makes a server read requests from the connection. Called by ``SoupServerObject``.
  func attach(to server: UnsafeMutablePointer<SoupServer>) {
    soup_server_accept_iostream(server, stream, localAddress, remoteAddress, nil)
  }
}
