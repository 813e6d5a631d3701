import CSoup
import Glibc

/// Listening TCP socket at an address of this machine. Owns its descriptor.
struct ListeningSocket: ~Copyable {
  let descriptor: Int32
  private let socket: UnsafeMutablePointer<GSocket>
  /// Actual port, even if port 0 was requested.
  let port: Int

  /// Maximum number of connections that the kernel completes before they are accepted.
  private static let backlog: Int32 = 256

  /// - Parameters:
  ///   - host: IPv4 or IPv6 address, or a name.
  ///   - port: 0 selects a free one.
  init(host: String, port: Int) throws(ListenError) {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0, let first = found else {
      if status == EAI_SYSTEM { throw .system(errno) }
      throw .unknownHost(String(cString: gai_strerror(status)))
    }
    defer { freeaddrinfo(first) }
    var failure = ListenError.system(EADDRNOTAVAIL)
    var next = found
    while let address = next {
      switch ListeningSocket.listen(at: address.pointee) {
      case .success(let descriptor):
        guard let socket = g_socket_new_from_fd(descriptor, nil) else {
          close(descriptor)
          throw .system(EBADF)
        }
        self.descriptor = descriptor
        self.socket = socket
        self.port = ListeningSocket.port(of: descriptor) ?? port
        return
      case .failure(let error): failure = error
      }
      next = address.pointee.ai_next
    }
    throw failure
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(socket)) }

  /// Accepts the next connection.
  /// - Returns: nil if no connection is pending, or if the client has already disconnected.
  /// - Throws: ``ListenError`` if no connection can be accepted now, for example because no
  ///   descriptor is free.
  func accept() throws(ListenError) -> ClientStream? {
    var error: UnsafeMutablePointer<GError>?
    if let accepted = g_socket_accept(socket, nil, &error) {
      return ClientStream(adopting: accepted)
    }
    defer { g_clear_error(&error) }
    if g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_WOULD_BLOCK.rawValue)) != 0 {
      return nil
    }
    throw .system(errno)
  }

  private static func listen(at address: addrinfo) -> Result<Int32, ListenError> {
    let kind = address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = Glibc.socket(address.ai_family, kind, address.ai_protocol)
    guard descriptor >= 0 else { return .failure(.system(errno)) }
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    // The previous server may have left the port in TIME_WAIT.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0,
      Glibc.listen(descriptor, backlog) == 0
    else {
      let reason = errno
      close(descriptor)
      return .failure(.system(reason))
    }
    return .success(descriptor)
  }

  private static func port(of descriptor: Int32) -> Int? {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &address) { bytes -> Int? in
      guard let start = bytes.baseAddress else { return nil }
      let name = start.assumingMemoryBound(to: sockaddr.self)
      guard getsockname(descriptor, name, &size) == 0 else { return nil }
      switch Int32(name.pointee.sa_family) {
      case AF_INET:
        return Int(UInt16(bigEndian: bytes.load(as: sockaddr_in.self).sin_port))
      case AF_INET6:
        return Int(UInt16(bigEndian: bytes.load(as: sockaddr_in6.self).sin6_port))
      default: return nil
      }
    }
  }
}

/// Reason why a server cannot listen, or cannot accept a connection.
package enum ListenError: Error, Equatable {
  /// An `errno`.
  case system(Int32)
  /// The host name has no address. The value is the resolver's message.
  case unknownHost(String)
}
