import CSystemSupport
import Foundation
import Glibc
import Paths
import Retrograde
import RetrogradeEngine
import TestSupport
import Testing

@testable import RetrogradeServer

/// Files that the server offers.
@Suite struct CatalogTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["films/more/deep", "films/.hidden", "else"] {
      try FileManager.default.createDirectory(at: folder.url.appending(path: name), withIntermediateDirectories: true)
    }
    for name in [
      "films/b.wav", "films/a.wav", "films/more/deep/c.wav", "films/.d.wav", "films/.hidden/e.wav", "else/secret.wav",
    ] {
      try FakeRequestHandler.wave.write(to: folder.url.appending(path: name))
    }
    try Data("root:x:0:0\n".utf8).write(to: folder.url.appending(path: "films/passwd"))
    try Data().write(to: folder.url.appending(path: "films/empty.mp4"))
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
  }

  @Test("a folder offers its media files and those of its subfolders")
  func folderFiles() throws {
    let catalog = try Catalog([folder.path("films")])
    #expect(catalog.files.map { "\($0.folder)/\($0.name)" } == ["/a.wav", "/b.wav", "more/deep/c.wav"])
    #expect(Set(catalog.files.map(\.id)).count == 3)
    #expect(catalog.files.allSatisfy { FileID.isPossible($0.id) })
    #expect(!catalog.isSingle)
  }

  @Test("a file whose name is not UTF-8 is listed and served")
  func rawBytesName() throws {
    let path = folder.path("films") + String(pathBytes: [0x2F, 0x63, 0xE9] + ".wav".utf8)
    try #require(rename(folder.path("films/b.wav"), path.cPath) == 0)
    let catalog = try Catalog([folder.path("films")])
    let file = try #require(catalog.files.first { $0.name.hasRawBytes })
    #expect(catalog.files.count == 3 && file.path == path && catalog.open(file.id)?.file.path == path)
    let page = Page().list(catalog.files, suffix: "")
    guard case .bytes(let html) = page.body else {
      Issue.record("no list")
      return
    }
    #expect(String(decoding: html, as: UTF8.self).contains("<span>c\\xe9.wav</span>"))
    #expect(RequestHandler.attachment(file.name) == "attachment; filename=\"c_.wav\"; filename*=UTF-8''c%EF%BF%BD.wav")
  }

  @Test("links out of the folder are not followed")
  func outsideLinks() throws {
    try link("films/out.wav", to: folder.path("else/secret.wav"))
    try link("films/outside", to: folder.path("else"))
    try link("films/up", to: "..")
    try link("films/loop", to: ".")
    try link("films/hides.wav", to: "/etc/passwd")
    try link("films/nowhere.wav", to: "nowhere")
    try link("films/in.wav", to: "more/deep/c.wav")
    let catalog = try Catalog([folder.path("films") + "/"])
    #expect(catalog.files.map(\.name) == ["a.wav", "b.wav", "in.wav", "c.wav"])
  }

  @Test("a file replaced by a link is no longer served")
  func fileBecomesLink() throws {
    let catalog = try Catalog([folder.path("films")])
    let id = FileID.of(folder.path("films/a.wav"))
    #expect(catalog.open(id)?.file.name == "a.wav")
    try FileManager.default.removeItem(atPath: folder.path("films/a.wav"))
    try link("films/a.wav", to: folder.path("else/secret.wav"))
    #expect(catalog.open(id) == nil)
    try FileManager.default.removeItem(atPath: folder.path("films/a.wav"))
    #expect(catalog.open(id) == nil)
  }

  @Test("a folder replaced by a link is no longer served")
  func folderBecomesLink() throws {
    let catalog = try Catalog([folder.path("films")])
    let id = FileID.of(folder.path("films/more/deep/c.wav"))
    #expect(catalog.open(id) != nil)
    try FakeRequestHandler.wave.write(to: folder.url.appending(path: "else/c.wav"))
    try FileManager.default.removeItem(atPath: folder.path("films/more/deep"))
    try link("films/more/deep", to: folder.path("else"))
    #expect(catalog.open(id) == nil)
  }

  /// The server reads type and path from the file that it has opened, because the name may already
  /// belong to another file.
  @Test("a name that is repeatedly swapped with a link never leads out of the folder")
  func swappedLink() throws {
    let catalog = try Catalog([folder.path("films")])
    let (name, id) = (folder.path("films/a.wav"), FileID.of(folder.path("films/a.wav")))
    let (own, secret) = (folder.path("films/own"), folder.path("films/link"))
    try FakeRequestHandler.wave.write(to: folder.url.appending(path: "films/own"))
    try link("films/link", to: folder.path("else/secret.wav"))
    let outside = try #require(FileStamp(folder.path("else/secret.wav")))
    let isOver = Cancellation()
    let swapper = try Worker("swap") {
      var swaps = 0
      while !isOver.isCancelled {
        for other in [own, secret] where system_exchange(name, other) == 0 { swaps += 1 }
      }
      return swaps
    }
    var (served, refused) = (0, 0)
    while served < 200 || refused < 200 {
      guard let content = catalog.open(id)?.content else {
        refused += 1
        continue
      }
      served += 1
      #expect(content.stamp != outside)
      #expect(FileStamp(content.path) == content.stamp, "the file that is read is the one that was checked")
    }
    isOver.cancel()
    #expect(try swapper.join() > 0)
  }

  @Test("a link to an absolute path in the folder is served, and a pipe is not")
  func absoluteLinkAndPipe() throws {
    try link("films/in.wav", to: folder.path("films/more/deep/c.wav"))
    #expect(mkfifo(folder.path("films/pipe.wav"), 0o600) == 0)
    let catalog = try Catalog([folder.path("films")])
    #expect(catalog.open(FileID.of(folder.path("films/in.wav"))) != nil)
    #expect(OpenFile(plainFile: folder.path("films/pipe.wav"), in: folder.path("films")) == nil)
  }

  @Test("an input may be a link to a file in any folder")
  func namedLink() throws {
    try link("mine.wav", to: folder.path("else/secret.wav"))
    let catalog = try Catalog([folder.path("mine.wav")])
    #expect(catalog.isSingle)
    #expect(catalog.open(FileID.of(folder.path("mine.wav")))?.file.name == "mine.wav")
    #expect(catalog.open(FileID.of(folder.path("else/secret.wav"))) == nil)
  }

  @Test("files with the same name in two folders are different files")
  func sameNames() throws {
    try FakeRequestHandler.wave.write(to: folder.url.appending(path: "else/a.wav"))
    let catalog = try Catalog([folder.path("films"), folder.path("else")])
    let ids = catalog.files.filter { $0.name == "a.wav" }.map(\.id)
    #expect(Set(ids).count == 2)
    #expect(ids.compactMap { catalog.open($0)?.file.path } == [folder.path("films/a.wav"), folder.path("else/a.wav")])
  }

  @Test("an unplayable input is an error that names the input")
  func unplayable() throws {
    for (name, code) in [("nothing.mp4", RetrogradeError.Code.noInput), ("films/passwd", .damagedInput)] {
      let error = #expect(throws: RetrogradeError.self) { try Catalog([folder.path(name)]) }
      #expect(error?.code == code)
      #expect(error?.subject == folder.path(name))
    }
    try FileManager.default.createDirectory(at: folder.url.appending(path: "empty"), withIntermediateDirectories: true)
    let error = #expect(throws: RetrogradeError.self) { try Catalog([folder.path("empty")]) }
    #expect(error?.code == .noInput)
  }

  @Test("identifiers of files in addresses do not change")
  func stableIDs() {
    #expect(
      FileID.of("films/My Film (2) – final.mp4") == "my-film-2-final-"
        + digest("films/My Film (2) – final.mp4").prefix(8))
    #expect(FileID.of("фильм.mkv") == digest("фильм.mkv").prefix(8))
    #expect(FileID.of("a/x.mp4") != FileID.of("b/x.mp4"))
    #expect(FileID.isPossible(FileID.of(String(repeating: "x", count: 300) + ".mp4")))
  }
}
