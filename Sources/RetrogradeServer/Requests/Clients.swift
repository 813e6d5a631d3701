import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Who is connected, and what is to be done when they hang up.
final class Clients: Sendable {
  private struct State {
    var clients: [ObjectIdentifier: Client] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  func client(of channel: any Channel) -> Client? { state.withLock { $0.clients[ObjectIdentifier(channel)] } }

  var count: Int { state.withLock { $0.clients.count } }

  /// Closes all connections, and those that come from now on.
  func closeAll() {
    let open = state.withLock { state in
      state.isClosed = true
      return Array(state.clients.values)
    }
    for client in open { client.close() }
  }

  fileprivate func add(_ channel: any Channel) {
    let isClosed = state.withLock { state in
      state.clients[ObjectIdentifier(channel)] = Client(channel)
      return state.isClosed
    }
    if isClosed { channel.close(promise: nil) }
  }

  fileprivate func remove(_ channel: any Channel) {
    state.withLock { $0.clients.removeValue(forKey: ObjectIdentifier(channel)) }?.hangUp()
  }
}

/// One connection.
final class Client: Sendable {
  private struct State {
    var listeners: [Int: @Sendable () -> Void] = [:]
    var count = 0
    var isGone = false
  }

  private let channel: any Channel
  private let state = Mutex(State())

  init(_ channel: any Channel) { self.channel = channel }

  /// Has `body` run when the connection ends; at once, if it has.
  /// - Returns: by what it is forgotten.
  func onHangup(_ body: @escaping @Sendable () -> Void) -> Int {
    let (number, isGone) = state.withLock { state in
      state.count += 1
      if !state.isGone { state.listeners[state.count] = body }
      return (state.count, state.isGone)
    }
    if isGone { body() }
    return number
  }

  func forget(_ number: Int) { _ = state.withLock { $0.listeners.removeValue(forKey: number) } }

  func close() { channel.close(promise: nil) }

  fileprivate func hangUp() {
    let listeners = state.withLock { state in
      state.isGone = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener() }
  }
}

/// Notices when a client hangs up, also one that only ceases to speak: a browser that drops a request closes its connection, and whoever half-closes
/// it here reads no answer.
final class Hangups: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart

  private let clients: Clients

  init(_ clients: Clients) { self.clients = clients }

  func handlerAdded(context: ChannelHandlerContext) { clients.add(context.channel) }

  func channelInactive(context: ChannelHandlerContext) {
    clients.remove(context.channel)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { clients.remove(context.channel) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed {
      context.close(promise: nil)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }
}

/// What Hummingbird gives of a request: its connection.
struct ClientContext: InitializableFromSource, Sendable {
  let channel: any Channel

  init(source: ApplicationRequestContextSource) { channel = source.channel }
}
