import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Retrograde
import RetrogradeEngine
import ServiceLifecycle
import Synchronization

/// Serves the mirrors of files to browsers and players of this machine, or others.
package final class Server: Sendable {
  private let settings: ServerSettings
  private let desk: Desk
  private let clients = Clients()
  private let running = Mutex<(group: ServiceGroup?, isStopped: Bool)>((nil, false))

  /// So many connections are open at a time; others wait.
  private static let mostConnections = 400

  /// - Throws: ``RetrogradeError``, of code `inputOutput` where nothing can be kept in the spool's folder.
  package convenience init(_ settings: ServerSettings, _ catalog: Catalog) throws {
    try self.init(settings, catalog) { try SegmentedMirror($0, $1, $2) }
  }

  init(_ settings: ServerSettings, _ catalog: Catalog, open: @escaping OpenStreams.Opening) throws {
    self.settings = settings
    desk = try Desk(settings, catalog, open: open)
  }

  /// Listens, and answers until it is stopped.
  ///
  /// - Parameter onListening: told the address of the start page.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` where nobody can listen there.
  package func run(_ onListening: @escaping @Sendable (_ address: String) -> Void) async throws {
    let logger = Logger(label: "retrograde") { _ in SwiftLogNoOpLogHandler() }
    let application = Application(
      responder: CallbackResponder<ClientContext> { [self] request, context in
        try await respond(to: request, context)
      },
      server: .http1(
        configuration: .init(
          additionalChannelHandlers: [Hangups(self.clients)], idleTimeout: TimeAmount(settings.patience),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100))),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.host, port: settings.port),
        availableConnectionsDelegate: MaximumAvailableConnections(Server.mostConnections)),
      onServerRunning: { [settings, desk] channel in
        desk.prepare()
        let port = channel.localAddress?.port ?? settings.port
        let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
        onListening("http://\(host):\(port)/" + (settings.token.map { "?token=\($0.percentEncoded)" } ?? ""))
      },
      logger: logger)
    // It is asked to end, and not cancelled: a connection that was accepted, and not begun, is a trap in SwiftNIO when it is dropped.
    let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
    let isStopped = running.withLock { running in
      running.group = group
      return running.isStopped
    }
    if isStopped { return }
    do {
      try await group.run()
    } catch let error as IOError {
      throw Server.cannotListen(settings, error.errnoCode)
    } catch is CancellationError {
      return
    } catch {
      if running.withLock({ $0.isStopped }) { return }
      throw RetrogradeError(
        .inputOutput, about: "\(settings.host):\(settings.port)",
        "nobody can listen there: \(String(describing: error))")
    }
  }

  /// How many clients are connected.
  var connections: Int { clients.count }

  /// Ends it, and all work, at once.
  package func stop() {
    let group = running.withLock { running in
      running.isStopped = true
      return running.group
    }
    desk.close()
    clients.closeAll()
    if let group { Task { await group.triggerGracefulShutdown() } }
  }

  private func respond(to request: Request, _ context: ClientContext) async throws -> Response {
    let client = clients.client(of: context.channel)
    // Its own task: the connection's is not cancelled when who asked is gone.
    let work = Task { try await desk.answer(request.head) }
    let number = client?.onHangup { work.cancel() }
    defer { number.map { client?.forget($0) } }
    let answer = try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
    return answer.response(
      isHead: request.method == .head, pace: Pace(channel: context.channel, client: client, patience: settings.patience)
    )
  }

  private static func cannotListen(_ settings: ServerSettings, _ reason: Int32) -> RetrogradeError {
    let address = "\(settings.host):\(settings.port)"
    return switch reason {
    case EADDRINUSE:
      RetrogradeError(
        .inputOutput, about: address, "another program listens there",
        remedy: "name another port; 0 takes one that is free")
    case EACCES:
      RetrogradeError(
        .inputOutput, about: address, "ports below 1024 are for the system's own programs", remedy: "name another port")
    case EADDRNOTAVAIL:
      RetrogradeError(
        .inputOutput, about: address, "this machine does not have that address", remedy: "name one that it has")
    default:
      RetrogradeError(.inputOutput, about: address, "nobody can listen there: \(String(cString: strerror(reason)))")
    }
  }
}
