import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Runs tasks on a separate queue, outside the shared thread pool.
private final class OwnQueue: TaskExecutor {
  private let queue = DispatchQueue(label: "own")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Sources that are named by a URL.
@Suite struct FetchTests {
  private func media(_ folder: TemporaryFolder) throws -> TestMedia {
    var media = TestMedia.matroska
    media.sampleCount = 96_000
    _ = try media.write(to: folder)
    return media
  }

  @Test(
    "a file from the web is reversed like a local file", arguments: [WebServer.Manner.plain, .ranges, .chunked, .moved])
  func webFile(_ manner: WebServer.Manner) async throws {
    let folder = try TemporaryFolder()
    let media = try media(folder)
    let server = try WebServer(folder)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let address = server.address("source.mkv", manner)
    let summary = try await Reverser(address, options: options).reverse(to: folder.path("web.mkv"))
    try await Reverser(folder.path("source.mkv"), options: options).reverse(to: folder.path("here.mkv"))
    let (web, here) = (
      try DecodedMedia(folder.path("web.mkv"), like: media), try DecodedMedia(folder.path("here.mkv"), like: media)
    )
    #expect(
      web.numbers == here.numbers && web.times == here.times && web.audio == here.audio && web.numbers.count == 60)
    let size = try FileManager.default.attributesOfItem(atPath: folder.path("source.mkv"))[.size] as? Int
    #expect(summary.fetched?.bytes == size && summary.warnings.isEmpty, "\(summary.warnings)")
    #expect(server.requests.count == (manner == .moved ? 2 : 1), "\(server.requests)")
  }

  /// GStreamer requests the rest of the file, up to three times in a row.
  @Test("an interrupted download resumes with a range request")
  func resumedDownload() async throws {
    let folder = try TemporaryFolder()
    _ = try media(folder)
    try FileManager.default.copyItem(atPath: folder.path("source.mkv"), toPath: folder.path("same.mkv"))
    let server = try WebServer(folder)
    let fetched = try #require(
      try FetchedFile(server.address("source.mkv", .halves), Resources(), Cancellation()))
    #expect(
      FileManager.default.contents(atPath: fetched.path)
        == FileManager.default.contents(atPath: folder.path("same.mkv")))
  }

  @Test("a connection that ends too soon is an error", arguments: [WebServer.Manner.cut, .cutChunks])
  func droppedConnection(_ manner: WebServer.Manner) async throws {
    let folder = try TemporaryFolder()
    _ = try media(folder)
    let server = try WebServer(folder)
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(server.address("source.mkv", manner)).reverse(to: folder.path("o.mkv"))
    }
    let words = manner == .cut ? "the connection ended after" : "the download may be incomplete"
    #expect(error?.code == .inputOutput && error?.description.contains(words) == true, "\(error as Any)")
    #expect(folder.names == ["source.mkv"])
  }

  @Test("unreachable sources are refused with the reason")
  func unreachableSources() async throws {
    let folder = try TemporaryFolder()
    let server = try WebServer(folder)
    func reason(_ address: String) async -> RetrogradeError? {
      await #expect(throws: RetrogradeError.self) { try await Reverser(address).plan() }
    }
    let missing = await reason(server.address("none.mkv"))
    #expect(missing?.code == .noInput && missing?.description.contains("404") == true, "\(missing as Any)")
    let closed = await reason("http://127.0.0.1:1/a.mkv")
    #expect(closed?.code == .noInput && closed?.description.contains("the download failed") == true, "\(closed as Any)")
    try Data("<html>This is not media.</html>".utf8).write(to: folder.url.appending(path: "page.mkv"))
    let page = await reason(server.address("page.mkv"))
    #expect(page?.description.hasPrefix("\(server.address("page.mkv")): ") == true, "\(page as Any)")
    // This reserved domain never resolves (RFC 2606).
    let unknown = await reason("http://nobody.invalid/a.mkv")
    #expect(
      unknown?.code == .noInput && unknown?.description.contains("the download failed") == true, "\(unknown as Any)")
    let insecure = await reason("https://127.0.0.1:\(server.port)/plain/a.mkv")
    #expect(
      insecure?.code == .noInput && insecure?.description.contains("the download failed") == true, "\(insecure as Any)")
    let other = await reason("ftp://127.0.0.1/a.mkv")
    #expect(other?.code == .noInput && other?.description.contains("only http, https and file") == true)
  }

  @Test("cancelling ends a download")
  func cancelledDownload() async throws {
    let folder = try TemporaryFolder()
    _ = try media(folder)
    let server = try WebServer(folder)
    let reversal = Reverser(server.address("source.mkv", .stalled)).start(to: folder.path("o.mkv"))
    // The task has its own queue, because on shared threads other tests could delay this loop
    // beyond souphttpsrc's timeout of 15 s.
    await Task(executorPreference: OwnQueue()) {
      for await progress in reversal.progress where progress.stage == .fetching && progress.done > 0 { break }
      reversal.cancel()
    }.value
    await #expect(throws: CancellationError.self) { try await reversal.summary() }
    #expect(folder.names == ["source.mkv"])
  }

  @Test("a file URI can name a file")
  func fileURI() async throws {
    let folder = try TemporaryFolder()
    _ = try media(folder)
    let path = folder.path("a clip, 100%.mkv")
    try FileManager.default.moveItem(atPath: folder.path("source.mkv"), toPath: path)
    let uri = URL(fileURLWithPath: path).absoluteString
    #expect(uri.contains("%20") && uri.contains("%25"))
    let report = try await Reverser(uri).plan()
    #expect(report.streams.first?.count == 60)
    // The URI and the path are recognized as the same file.
    var options = ReverseOptions()
    options.output.overwrites = true
    let itself = await #expect(throws: RetrogradeError.self) {
      try await Reverser(uri, options: options).reverse(to: path)
    }
    #expect(itself?.description.contains("is the input itself") == true)
    #expect(try await Reverser(uri).plan().streams.count == report.streams.count)
    for wrong in ["file://elsewhere\(path)", "file:relative", "file:///%zz", "file:///none"] {
      let error = await #expect(throws: RetrogradeError.self) { try await Reverser(wrong).plan() }
      #expect(error?.code == .noInput, "\(wrong): \(error as Any)")
    }
  }

  @Test("animations, and the sources of single frames, are fetched from the web")
  func fetchedImages() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(6, rate: 10)
    let source = try media.write(to: folder)
    try await Reverser(source).reverse(to: folder.path("a.webp"))
    let server = try WebServer(folder)
    try await Reverser(server.address("a.webp")).reverse(to: folder.path("b.webp"))
    #expect(try DecodedAnimation(folder.path("b.webp")).numbers == Array(0..<6))
    let summary = try await FrameGrab(server.address("source.mkv"), at: [.end]).write(to: folder.path("x.png"))
    #expect(summary.fetched != nil)
    #expect(try DecodedMedia(folder.path("x.png"), like: media).numbers == [5])
  }

  @Test("verify checks the mirror of a file from the web")
  func verifiedWebFile() async throws {
    let folder = try TemporaryFolder()
    _ = try media(folder)
    let server = try WebServer(folder)
    var options = ReverseOptions()
    options.output.isVerified = true
    let address = server.address("source.mkv")
    try await Reverser(address, options: options).reverse(to: folder.path("o.mkv"))
    #expect(try await Verifier(address, mirror: folder.path("o.mkv")).verify().isMirror)
  }
}
