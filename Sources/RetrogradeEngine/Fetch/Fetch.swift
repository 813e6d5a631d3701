import Containers
import GStreamer
import MediaTime
import Synchronization

/// Fetches media from an address into the spool.
struct Fetch {
  /// Name of the source in messages.
  let name: String
  let resources: Resources
  let cancellation: Cancellation
  let report: FetchedFile.Report

  private static let step = ClockTime(nanoseconds: 100_000_000)

  /// Returns the description of an element that reads an address. The element does not request
  /// radio metadata, because servers would mix the metadata into the media.
  private static func reader(_ element: String, _ location: String) -> String {
    "\(element) name=source location=\(Description.quoted(location))"
      + (element == "souphttpsrc" ? " iradio-mode=false blocksize=65536" : "")
  }

  // MARK: one file

  /// Fetches a whole file. In the result, `isWhole` is true if the server declared the length.
  func file(at address: String) throws -> (Spool, isWhole: Bool) {
    let pipeline = try pipeline(
      "\(Fetch.reader("souphttpsrc", address)) ! appsink name=bytes sync=false max-buffers=64 enable-last-sample=false")
    defer { pipeline.set(.null) }
    let (source, sink) = (pipeline.element("source"), try pipeline.appSink("bytes"))
    pipeline.set(.playing)
    let spool = try Spool(directory: resources.spoolDirectory)
    var (done, total) = (0, 0)
    while true {
      try cancellation.check()
      if let sample = sink.pull(timeout: Fetch.step) {
        done += try append(sample, to: spool)
        if total == 0 { total = source?.byteCount ?? 0 }
        report(done, total)
      } else if let error = pipeline.pendingFailure {
        throw failure(error, done, total)
      } else if sink.isEndOfStream {
        break
      }
    }
    guard done > 0 else { throw RetrogradeError(.damagedInput, about: name, "is empty") }
    // If the connection ends too early, souphttpsrc reports a normal end
    // (`Quirk.souphttpsrcEarlyEnd`).
    guard total == 0 || done == total else { throw cut(done, total) }
    return (spool, total > 0)
  }

  private func append(_ sample: Sample, to spool: Spool) throws -> Int {
    try sample.buffer.withBytes {
      _ = try spool.append($0)
      return $0.count
    }
  }

  // MARK: playlists

  /// Fetches the media of a playlist as one file. If there are several variants, the variant with
  /// the highest bit rate is fetched.
  /// - Parameter reader: element that reads the playlist. Files that the playlist names are read
  ///   only with the same kind of element.
  func media(of playlist: Playlist, from reader: String, at location: String) throws -> (Spool, [Warning]) {
    if playlist.isLive { throw live }
    guard playlist.promisedSegments <= Double(Playlist.mostSegments) else {
      throw RetrogradeError(
        .damagedInput, about: name,
        "is a manifest with a stream of more than \(Playlist.mostSegments) segments, the largest number allowed")
    }
    let streams = try segments(of: playlist, from: reader, at: location)
    var warnings: [Warning] = []
    let texts = streams.filter(\.isText)
    if !texts.isEmpty {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: the subtitles, which are in separate files of the playlist", count: texts.count))
    }
    let media = streams.filter { !$0.isText }
    guard let first = media.first else {
      throw RetrogradeError(.damagedInput, about: name, "is a playlist without video or audio")
    }
    guard media.count > 1 else { return (first.spool, warnings) }
    guard try media.allSatisfy({ try $0.hasTimes }) else {
      throw RetrogradeError(
        .damagedInput, about: name,
        "is a playlist with audio and video in separate transport streams, which can't be synchronised exactly (to "
          + "the sample)",
        remedy: "convert the playlist to one file first: ffmpeg -i \(Shell.quoted(name)) -c copy video.mkv")
    }
    return (try joined(media), warnings)
  }

  private var live: RetrogradeError {
    RetrogradeError(
      .damagedInput, about: name, "is a live stream, which can't be reversed, since it has no end yet",
      remedy: "record a part of it first: ffmpeg -t 60 -i \(name) -c copy video.mkv")
  }

  /// One stream of a playlist: the concatenated bytes of its media segments.
  private struct Segments {
    let sink: AppSink
    let caps: @Sendable () -> Caps?
    let spool: Spool

    var isText: Bool {
      let type = caps()?.mediaType ?? ""
      return type.hasPrefix("text/") || type.hasPrefix("application/x-subtitle") || type.hasPrefix("application/ttml")
    }

    /// True if each packet has a timestamp, on a timeline that all streams of the playlist share,
    /// as in MP4 and WebM.
    var hasTimes: Bool {
      get throws {
        var bytes = [UInt8](repeating: 0, count: min(8, try spool.size))
        try bytes.withUnsafeMutableBytes { try spool.read($0, at: 0) }
        return [0x1A, 0x45, 0xDF, 0xA3] == bytes.prefix(4)
          || ["ftyp", "styp", "moov", "sidx"].contains(String(decoding: bytes.dropFirst(4), as: UTF8.self))
      }
    }
  }

  /// State shared between GStreamer's threads and the fetching thread while pads are added.
  private final class Pads: Sendable {
    private let state: Mutex<(pipeline: Pipeline?, added: [(name: String, pad: Pad)])>

    init(_ pipeline: Pipeline) { state = Mutex((pipeline, [])) }

    var added: [(name: String, pad: Pad)] { state.withLock { $0.added } }

    func releaseElements() { state.withLock { $0 = (nil, []) } }

    func add(_ pad: Pad) {
      let (found, number) = state.withLock { ($0.pipeline, $0.added.count) }
      let name = "stream\(number)"
      guard let pipeline = found, let sink = Element(factory: "appsink", name: name) else { return }
      for (property, value) in [
        ("sync", "false"), ("async", "false"), ("max-buffers", "64"), ("enable-last-sample", "false"),
      ] {
        try? sink.set(property, value)
      }
      pipeline.add(sink)
      if let target = sink.staticPad("sink") { pad.link(to: target) }
      state.withLock { $0.added.append((name, pad)) }
    }
  }

  /// Fetches all streams of a playlist, each from beginning to end.
  private func segments(of playlist: Playlist, from reader: String, at location: String) throws -> [Segments] {
    let copy = try playlist.kind == .dash ? best(playlist, at: location, by: reader) : nil
    defer { withExtendedLifetime(copy) {} }
    let manifest = copy.map { Fetch.reader("filesrc", $0.path) } ?? Fetch.reader(reader, location)
    // Set a rate above that of any variant, because otherwise the demuxer measures the network's
    // rate and switches between variants.
    let pipeline = try pipeline("\(manifest) ! \(playlist.kind.demuxer) name=demux connection-speed=4294967")
    guard let demuxer = pipeline.element("demux") else { throw CancellationError() }
    let pads = Pads(pipeline)
    demuxer.onPadAdded { pads.add($0) }
    let transfers = Transfers(by: reader)
    pipeline.onElementAdded { transfers.watch($0) }
    defer {
      pipeline.set(.null)
      // Break a reference cycle: the pipeline retains the signals' closures, and the closures
      // retain `pads`, which retains the pipeline.
      pads.releaseElements()
      transfers.releaseElements()
    }
    pipeline.set(.playing)
    var streams: [Segments] = []
    var (done, isOver) = (0, false)
    while true {
      try cancellation.check()
      try transfers.check(name)
      let added = pads.added
      for (name, pad) in added.dropFirst(streams.count) {
        if streams.isEmpty, demuxer.duration == nil { throw live }
        streams.append(
          Segments(
            sink: try pipeline.appSink(name), caps: { pad.caps }, spool: try Spool(directory: resources.spoolDirectory))
        )
      }
      let before = done
      for stream in streams {
        while let sample = stream.sink.pull(timeout: .zero) {
          done += try append(sample, to: stream.spool)
          try cancellation.check()
        }
      }
      if done > before { report(done, 0) }
      if isOver {
        try transfers.check(name, isOver: true)
        break
      }
      switch pipeline.nextMessage(timeout: done > before ? .zero : ClockTime(nanoseconds: 10_000_000)) {
      case .failed(let error):
        try transfers.check(name, isOver: true)
        throw failure(error, done, 0)
      // At end of stream, all remaining data is in the sinks, so pull once more before ending.
      case .endOfStream: isOver = true
      default: break
      }
    }
    let whole = try streams.filter { try $0.spool.size > 0 }
    Log.index.info("\(name): \(done) bytes in \(whole.count) streams")
    return whole
  }

  private func best(_ playlist: Playlist, at location: String, by reader: String) throws -> Spool {
    let spool = try Spool(directory: resources.spoolDirectory)
    let address = try reader == "filesrc" ? GStreamer.uri(ofFile: location) : location
    let path = address.prefix { $0 != "?" && $0 != "#" }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? path
    var text = playlist.best(from: String(folder))
    _ = try text.withUTF8 { try spool.append(UnsafeRawBufferPointer($0)) }
    return spool
  }

  /// Muxes several streams into one file, each packet at its timestamp.
  private func joined(_ streams: [Segments]) throws -> Spool {
    let spool = try Spool(directory: resources.spoolDirectory)
    var counts: [StreamKind: Int] = [:]
    let branches = try streams.map { stream in
      let path = stream.spool.path
      let reader = "filesrc location=\(Description.quoted(path))"
      let found = try Topology(probing: path, reader, ContainerFacts(path), cancellation).streams
      guard found.count == 1, let kind = found.first?.kind, [.video, .audio].contains(kind) else {
        throw RetrogradeError(
          .damagedInput, about: name,
          "the streams of the playlist can't be combined, because one of them has both video and audio, or neither",
          remedy: "convert the playlist to one file first: ffmpeg -i \(Shell.quoted(name)) -c copy video.mkv")
      }
      // A muxer accepts no new streams after it begins to write, so all its pads are requested at
      // the start.
      let number = counts[kind] ?? 0
      counts[kind] = number + 1
      return "\(reader) ! parsebin ! queue ! mux.\(kind.rawValue)_\(number)"
    }
    let pipeline = try pipeline(
      (["matroskamux name=mux ! filesink location=\(Description.quoted(spool.path))"] + branches).joined(
        separator: "\n"))
    pipeline.plugOnlyMedia()
    defer { pipeline.set(.null) }
    pipeline.set(.playing)
    while true {
      try cancellation.check()
      switch pipeline.nextMessage(timeout: Fetch.step) {
      case .failed(let error): throw RetrogradeError.reading(name, error)
      case .endOfStream: return spool
      default: break
      }
    }
  }

  // MARK: failures

  private func pipeline(_ description: String) throws -> Pipeline {
    do {
      return try Pipeline(description)
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(name, error)
    }
  }

  private func cut(_ done: Int, _ total: Int, _ error: GStreamerError? = nil) -> RetrogradeError {
    let length = ByteCount(done)
    let what =
      total > 0
      ? "the connection ended after \(length) of \(ByteCount(total))"
      : "the download is incomplete, because the connection ended after \(length)"
    // After a lost connection, souphttpsrc requests the remaining bytes before it fails. If the
    // server refuses this request, omit the refusal, because it is not the reason for the lost
    // connection.
    let reason = error.flatMap { $0.isRefusedRange ? nil : ": \($0.reasonInTransfer)" } ?? ""
    return RetrogradeError(.inputOutput, about: name, "\(what)\(reason)", remedy: "try again", underlying: error)
  }

  private func failure(_ error: GStreamerError, _ done: Int, _ total: Int) -> RetrogradeError {
    if error.kind == .missingPlugin { return RetrogradeError.reading(name, error) }
    if done > 0 { return cut(done, total, error) }
    return RetrogradeError(
      .noInput, about: name, "the download failed: \(error.reasonInTransfer)", underlying: error)
  }
}

extension GStreamerError {
  /// True if souphttpsrc requested a range of the file, but the server sent the whole file.
  fileprivate var isRefusedRange: Bool { debug?.contains("does not accept Range") ?? false }

  /// Reason for a failed transfer, from the debug text, because the message is not specific.
  /// souphttpsrc adds the server's answer to this text ("Not Found (404), URL: …"), and adaptive
  /// demuxers add the address.
  fileprivate var reasonInTransfer: String {
    guard let detail = debug?.split(separator: "\n").last.map(String.init), detail.contains(", URL: ") else {
      return cause
    }
    return detail.split(separator: ", URL: ").first.map(String.init) ?? cause
  }
}
