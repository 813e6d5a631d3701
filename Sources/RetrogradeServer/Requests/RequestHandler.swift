import FoundationEssentials
import MediaTime
import Retrograde
import RetrogradeEngine
import Soup
import Paths

/// Answers requests, independently of the transport.
final class RequestHandler: Sendable {
  private let settings: ServerSettings
  private let catalog: Catalog
  private let guarding: Guard
  private let line: WorkLine
  private let streams: OpenStreams
  private let parts: PartCache
  private let downloads: Downloads
  private let page: Page

  /// - Throws: ``RetrogradeError`` of code `inputOutput` if the spool folder is not writable.
  init(
    _ settings: ServerSettings, _ catalog: Catalog, run: @escaping ServerRunning = { $0.start() },
    onCrash: @escaping @Sendable (RetrogradeError) -> Void = { _ in }, open: @escaping OpenStreams.OpenFunction
  ) throws {
    let crashes = CrashedFiles(onCrash: onCrash)
    (self.settings, self.catalog) = (settings, catalog)
    guarding = Guard(token: settings.token, loopback: settings.isLoopback ? settings.host : nil)
    let ahead = Prefetcher(most: settings.jobs)
    line = WorkLine(slots: settings.jobs, longest: settings.jobs * 8) { ahead.cancel() }
    streams = OpenStreams(settings, line, crashes, open: open)
    parts = PartCache(
      try ByteStore(directory: settings.resources.spoolDirectory, capacity: settings.cache.bytes), line, ahead, crashes,
      run: run)
    downloads = Downloads(settings.share, crashes, run: run)
    page = Page()
  }

  /// Number of running and waiting jobs.
  var load: (running: Int, waiting: Int) { line.load }

  /// If there is only one file, opens this file in advance, and produces the parts for the first
  /// frame.
  func prepare() {
    guard catalog.isSingle, let file = catalog.files.first else { return }
    // Errors are reported when a client requests the file.
    Task { [self] in
      guard let (file, content) = try? await opened(file.id),
        let stream = try? await streams.stream(file, content, .usual)
      else { return }
      parts.makeFirst(of: stream)
    }
  }

  /// Cancels all work and refuses new work.
  func close() {
    streams.close()
    parts.close()
    downloads.close()
  }

  /// - Throws: `CancellationError` if the client has disconnected.
  func answer(_ request: Request) async throws -> Answer {
    guard request.method == .get || request.method == .head else {
      var answer = Answer.refusal(405, "This server answers only GET and HEAD requests.")
      answer.fields[.allow] = "GET, HEAD"
      return answer.secured()
    }
    guard let path = RequestPath(request.target) else {
      return Answer.refusal(400, "This is not a valid URL.").secured()
    }
    let route = Route(path)
    let known = guarding.check(path, isPage: route?.isPage ?? false) { request.fields[FieldName($0)] }
    if case .refused(let status, let reason) = known {
      var answer = Answer.refusal(status, reason)
      if status == 401 { answer.fields[.wwwAuthenticate] = "Bearer" }
      return answer.secured()
    }
    var answer = await checked { try await self.found(route, path, isByQuery: known == .grantedByQuery) }
    try Task.checkCancellation()
    if known == .grantedByQuery, let token = settings.token {
      answer.fields[.setCookie] =
        "\(Guard.cookie)=\(token.percentEncoded); Path=/; HttpOnly; SameSite=Strict"
    }
    // A range or HEAD request needs the complete answer.
    if request.method == .head || request.fields[.range] != nil {
      let begun = answer
      answer = await checked { try await begun.whole() }
      try Task.checkCancellation()
    }
    return answer.conditioned { request.fields[$0] }
  }

  /// Returns the answer of `body`, or the answer for an error that `body` throws.
  private func checked(_ body: () async throws -> Answer) async -> Answer {
    do {
      return try await body()
    } catch is WorkLine.Busy {
      var answer = Answer.refusal(503, "The server is busy with too many requests: ask again in a second.")
      answer.fields[.retryAfter] = "1"
      return answer.secured()
    } catch let error as RetrogradeError {
      return Answer.refusal(RequestHandler.status(error.code), "\(error.message)").secured()
    } catch is CancellationError {
      return Answer.refusal(503, "The server is shutting down.").secured()
    } catch {
      return Answer.refusal(500, "\(error)").secured()
    }
  }

  private static func status(_ code: RetrogradeError.Code) -> Int {
    switch code {
    case .noInput: 404
    case .damagedInput, .missingPlugin, .crashed: 415
    case .usage: 422
    default: 500
    }
  }

  private static let nothing = Answer.refusal(404, "There is nothing at this URL.").secured()

  private func found(_ route: Route?, _ path: RequestPath, isByQuery: Bool) async throws -> Answer {
    guard let route else { return RequestHandler.nothing }
    switch route {
    case .start:
      let (files, isSingle) = try await list()
      if isSingle, let file = files.first {
        var answer = Answer(status: 302)
        answer.fields[.location] = "/\(file.id)/" + suffix(isByQuery)
        return answer.kept(forever: false).secured()
      }
      return page.list(files, suffix: suffix(isByQuery))
    case .playlist:
      let (files, isSingle) = try await list()
      guard isSingle, let id = files.first?.id else { return RequestHandler.nothing }
      let part = StreamPart.master(prefix: "\(id)/\(StreamName.usual.text)/")
      return try await answer(part, of: id, .usual, path.query, suffix(isByQuery))
    case .page(let id):
      return try await opened(id) == nil ? RequestHandler.nothing : page.player
    case .picture(let id):
      guard let (file, content) = try await opened(id) else { return RequestHandler.nothing }
      return try await picture(of: file, content)
    case .stream(let id, let name, let part):
      return try await answer(part, of: id, name, path.query, suffix(isByQuery))
    }
  }

  /// Returns the answer for a part of a stream. Errors name the file as in the list, because
  /// clients must never see the file's path.
  private func answer(
    _ part: StreamPart, of id: String, _ name: StreamName, _ query: [String: String], _ suffix: String
  ) async throws -> Answer {
    guard let (file, content) = try await opened(id) else { return RequestHandler.nothing }
    do {
      return try await answer(part, of: streams.stream(file, content, name), query, suffix)
    } catch let error as RetrogradeError {
      throw error.naming(spooled: file.name)
    }
  }

  private func list() async throws -> (files: [Catalog.File], isSingle: Bool) {
    try await looking { catalog in
      catalog.refreshSometimes()
      return (catalog.files, catalog.isSingle)
    }
  }

  /// Returns the text to append to each address in an answer: the token, if the request's query
  /// contained it.
  private func suffix(_ isByQuery: Bool) -> String {
    isByQuery ? settings.token.map { "?token=\($0.percentEncoded)" } ?? "" : ""
  }

  private func opened(_ id: String) async throws -> (file: Catalog.File, content: OpenFile)? {
    try await looking { $0.open(id) }
  }

  private func looking<Value: Sendable>(_ body: @escaping @Sendable (Catalog) -> Value) async throws -> Value {
    let catalog = catalog
    return try await onOwnThread("look", Cancellation()) { body(catalog) }
  }

  private func answer(
    _ part: StreamPart, of stream: OpenStream, _ query: [String: String], _ suffix: String
  ) async throws -> Answer {
    switch part {
    case .master(let prefix):
      parts.makeFirst(of: stream)
      return Answer(Playlist.master(stream.mirror, at: prefix + stream.version, suffix: suffix), .playlist)
        .kept(forever: false).secured()
    case .info:
      parts.makeFirst(of: stream)
      return Answer(StreamInfo(stream).json, .json).kept(forever: false).secured()
    case .command:
      guard let stretch = DownloadRange(query) else { return RequestHandler.noStretch }
      return Answer(StreamInfo.encoded(["command": stretch.command(stream)]), .json).kept(forever: false).secured()
    case .download:
      guard let stretch = DownloadRange(query) else { return RequestHandler.noStretch }
      var answer = Answer(try await downloads.file(stretch, of: stream), .mp4)
      answer.fields[.contentDisposition] = RequestHandler.attachment(stretch.fileName(stream))
      return answer.kept(forever: false).secured()
    case .made(let version, let part):
      // An address with another version was made for an earlier state of the file or the settings.
      guard version == stream.version else { return RequestHandler.nothing }
      return try await made(part, stream, suffix)
    }
  }

  private func made(_ part: PartID, _ stream: OpenStream, _ suffix: String) async throws -> Answer {
    let mirror = stream.mirror
    switch part {
    case .playlist(let name):
      guard let rendition = stream.rendition(name) else { return RequestHandler.nothing }
      return Answer(Playlist.media(mirror.renditions[rendition], suffix: suffix), .playlist)
        .kept(forever: suffix.isEmpty).secured()
    case .subtitlePlaylist(let number):
      guard mirror.subtitles.indices.contains(number) else { return RequestHandler.nothing }
      return Answer(Playlist.subtitles(number, of: mirror.duration, suffix: suffix), .playlist)
        .kept(forever: suffix.isEmpty).secured()
    case .subtitles(let number):
      guard mirror.subtitles.indices.contains(number) else { return RequestHandler.nothing }
      return Answer(Playlist.timed(mirror.subtitles[number].text), .subtitles).kept(forever: true).secured()
    case .chapters:
      return Answer(StreamInfo.encoded(StreamInfo.marks(mirror.chapters)), .json).kept(forever: true).secured()
    case .initialization(let name):
      guard let rendition = stream.rendition(name) else { return RequestHandler.nothing }
      // The initialization part is available without waiting. A request to `parts` would stop
      // prefetching.
      return Answer(try mirror.initialization(rendition, Cancellation()), RequestHandler.type(part, mirror))
        .kept(forever: true).secured()
    case .frames, .segment, .waveform, .picture:
      guard let found = try await parts.part(part, of: stream) else { return RequestHandler.nothing }
      return Answer(found, RequestHandler.type(part, mirror)).kept(forever: true).secured()
    }
  }

  private func picture(of file: Catalog.File, _ content: OpenFile) async throws -> Answer {
    let (bytes, type) = try await parts.picture(of: file, content, settings.share)
    return Answer(bytes, type).kept(forever: false).secured()
  }

  private static let noStretch = Answer.refusal(
    400, "from and to must be seconds within the stream, and from must be less than to."
  ).secured()

  private static func type(_ part: PartID, _ mirror: any MirrorStream) -> Answer.MediaType {
    switch part {
    case .picture: .jpeg
    case .waveform: .json
    case .initialization(let name), .segment(_, _, let name):
      mirror.renditions.first { $0.name == name }?.isVideo ?? true ? .mp4 : .audio
    default: .bytes
    }
  }

  /// Returns the Content-Disposition for a download: an ASCII name for old clients, and the real
  /// name (RFC 6266).
  static func attachment(_ name: String) -> String {
    // HTTP headers cannot contain bytes that are not UTF-8.
    let name = name.replacingRawBytes { _ in "\u{FFFD}" }
    let plain = String(
      String.UnicodeScalarView(
        name.unicodeScalars.map { (32..<127).contains($0.value) && !"\"\\%/".unicodeScalars.contains($0) ? $0 : "_" }))
    return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(name.percentEncoded)"
  }
}
