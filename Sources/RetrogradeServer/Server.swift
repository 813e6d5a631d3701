import Glibc
package import Retrograde
package import RetrogradeEngine
import Soup

/// Function that starts a child's task on a file.
typealias ServerRunning = @Sendable (ChildTask) -> Reversal

/// Serves reversed files to browsers and players on this or other machines.
package final class Server: Sendable {
  private let settings: ServerSettings
  private let handler: RequestHandler
  private let service: HTTPService

  /// Maximum number of open connections.
  private static let mostConnections = 400

  /// - Parameters:
  ///   - runner: starts the processes that read the files.
  ///   - onLine: receives the path of a file, which may be a link in `/proc`, and a line from the
  ///     standard error of the process that reads the file.
  ///   - onCrash: receives the error of a file that crashed its reader process.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if the spool folder is not writable.
  package convenience init(
    _ settings: ServerSettings, _ catalog: Catalog, _ runner: ChildRunner,
    onLine: @escaping @Sendable (_ path: String, _ line: String) -> Void,
    onCrash: @escaping @Sendable (RetrogradeError) -> Void
  ) throws {
    try self.init(
      settings, catalog, run: { task in runner.start(task) { onLine(task.input, $0) } }, onCrash: onCrash
    ) { path, settings, cancellation in
      try ChildMirror(path, settings, runner, cancellation) { onLine(path, $0) }
    }
  }

  init(
    _ settings: ServerSettings, _ catalog: Catalog, run: @escaping ServerRunning = { $0.start() },
    onCrash: @escaping @Sendable (RetrogradeError) -> Void = { _ in }, open: @escaping OpenStreams.OpenFunction
  ) throws {
    self.settings = settings
    service = HTTPService(
      .init(
        host: settings.host, port: settings.port, patience: settings.patience,
        mostConnections: Server.mostConnections))
    handler = try RequestHandler(settings, catalog, run: run, onCrash: onCrash, open: open)
  }

  /// Listens and serves until stopped.
  ///
  /// - Parameter onListening: called with the address of the start page.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if the server cannot listen at its
  ///   address.
  package func run(_ onListening: @escaping @Sendable (_ address: String) -> Void) async throws {
    do {
      try await withTaskCancellationHandler {
        try await onOwnThread("serve", Cancellation()) { [self] in
          try service.run(
            onListening: { port in
              handler.prepare()
              onListening(address(port))
            },
            respond: { [self] exchange in await respond(to: exchange) })
        }
      } onCancel: {
        stop()
      }
    } catch ListenError.system(let reason) {
      throw Server.cannotListen(settings, reason)
    } catch ListenError.unknownHost(let reason) {
      throw RetrogradeError(
        .inputOutput, about: "\(settings.host):\(settings.port)", "can't listen there: \(reason)")
    }
  }

  /// Returns the address of the start page.
  private func address(_ port: Int) -> String {
    let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
    return "http://\(host):\(port)/" + (settings.token.map { "?token=\($0.percentEncoded)" } ?? "")
  }

  /// Number of connected clients.
  var connections: Int { service.connections }

  /// Waits until no client is connected. Used by tests.
  func waitUntilAlone() async {
    if connections > 0 { _ = await service.connectionCounts.first { $0 == 0 } }
  }

  /// Stops the server and all work immediately.
  package func stop() {
    handler.close()
    service.stop()
  }

  /// Answers a request. The task that calls this function is cancelled when the client disconnects.
  private func respond(to exchange: Exchange) async {
    do {
      try await PacedBody(exchange: exchange).send(try await handler.answer(exchange.request))
    } catch {
      exchange.abort()
    }
  }

  private static func cannotListen(_ settings: ServerSettings, _ reason: Int32) -> RetrogradeError {
    let address = "\(settings.host):\(settings.port)"
    return switch reason {
    case EADDRINUSE:
      RetrogradeError(
        .inputOutput, about: address, "another program is listening there",
        remedy: "use another --port, or --port 0 for a free one")
    case EACCES:
      RetrogradeError(
        .inputOutput, about: address, "ports below 1024 are for the system's own programs",
        remedy: "use --port 1024 or above")
    case EADDRNOTAVAIL:
      RetrogradeError(
        .inputOutput, about: address, "this machine does not have this address",
        remedy: "for --host, use an address of this machine")
    default:
      RetrogradeError(.inputOutput, about: address, "can't listen there: \(String(cString: strerror(reason)))")
    }
  }
}
