package import Containers
import Glibc
import GStreamer
package import MediaTime
import Quirks
import Paths

/// Origin of the media's bytes: a file, numbered images, or the spooled bytes of a pipe or a
/// download.
package struct Source: Sendable {
  /// Name of the source for the user.
  package let name: String
  /// Path that GStreamer opens.
  package private(set) var path: String
  /// Elements that read the bytes, in `gst-launch-1.0` syntax. The first is named `source`.
  package private(set) var sourceDescription: String
  /// Facts in the file's bytes that GStreamer does not report.
  package private(set) var facts: ContainerFacts
  /// Warnings about parts of the file that are not read.
  private(set) var warnings: [Warning] = []
  private var spool: Spool?
  /// Descriptor that keeps the file open, if the source's path names a descriptor; nil otherwise.
  private var held: OpenDescriptor?
  /// Spool file of a source that was fetched from an address or through a playlist.
  private(set) var fetched: FetchedFile?
  /// True if the source is one or more image files.
  private(set) var holdsImages = false
  /// Path of the first image if the source is numbered images; nil otherwise.
  private var firstImage: String?

  /// Opens a source. A pipe is first copied to the spool, because it can be read only once. The
  /// copy can be indexed and sought like a file, and takes far less space than decoded frames.
  /// - Parameter fetched: media that was already fetched from `input`; nil to fetch it, if `input`
  ///   is an address or a playlist.
  package init(
    _ input: String, fetched: FetchedFile? = nil, sequenceRate: FrameRate = .usual, resources: Resources,
    cancellation: Cancellation
  ) throws {
    if let fetched = try fetched ?? FetchedFile(input, resources, cancellation) {
      try self.init(input, fetched, resources, cancellation)
    } else {
      try self.init(reading: Address.path(of: input), sequenceRate, resources, cancellation)
    }
    warnings += fetched?.warnings ?? []
    if let film = facts.film(in: path) {
      spool = try Spool(copying: film, of: path, in: resources.spoolDirectory, cancellation)
      path = spool?.path ?? path
      facts = try Source.facts(path, cancellation)
      sourceDescription = try Source.sourceDescription(path, name, facts, resources)
      warnings.append(Warning(.streamLeftOut, "left out: the still image of a motion photo; only its video is read"))
    }
    guard let blocks = facts.gif, !blocks.isWhole else { return }
    guard blocks.images > 0 else {
      throw RetrogradeError(
        .damagedInput,
        about: name,
        blocks.brokenAt.map { "damaged: its first frame is incomplete; the byte at offset \($0) is not valid in a GIF" }
          ?? "cut: the file ends inside its first frame")
    }
    // avdemux_gif waits for the rest of a GIF that is truncated (Quirk.avdemuxEnd) or broken in the
    // middle. Therefore spool a valid GIF with only the frames before the damage.
    let whole = try Spool(directory: resources.spoolDirectory)
    try whole.append(blocks, of: path)
    Log.index.info(
      "\(name): is no whole GIF: its \(blocks.images) whole images go to the spool, and are read from there")
    spool = whole
    path = whole.path
    sourceDescription = try Source.sourceDescription(path, name, facts, resources)
  }

  private init(
    _ name: String, _ fetched: FetchedFile, _ resources: Resources, _ cancellation: Cancellation
  ) throws {
    (self.name, self.fetched, path) = (name, fetched, fetched.path)
    facts = try Source.facts(path, cancellation)
    sourceDescription = try Source.sourceDescription(path, name, facts, resources)
    holdsImages = StillImage(facts) != nil
  }

  private init(
    reading input: String, _ sequenceRate: FrameRate, _ resources: Resources, _ cancellation: Cancellation
  ) throws {
    name = input == "-" ? "standard input" : input
    if input == "-" {
      let spool = try Source.spool(descriptor: STDIN_FILENO, name, resources, cancellation)
      self.spool = spool
      path = spool.path
      facts = try Source.facts(path, cancellation)
      sourceDescription = try Source.sourceDescription(path, name, facts, resources)
      holdsImages = StillImage(facts) != nil
      return
    }
    var info = stat()
    let exists = stat(input.cPath, &info) == 0
    if !exists, let sequence = try ImageSequence(input) {
      spool = nil
      path = input
      sourceDescription = sequence.sourceDescription(sequenceRate)
      holdsImages = true
      firstImage = sequence.paths.first { _ in true }
      facts = ContainerFacts(images: sequence.paths) { cancellation.isCancelled }
      try cancellation.check()
      warnings = facts.differences(of: sequence.numbers.count)
      return
    }
    guard exists else {
      throw RetrogradeError(.noInput, about: input, "\(String(cString: strerror(errno)))")
    }
    switch info.st_mode & S_IFMT {
    case S_IFDIR:
      throw RetrogradeError(.noInput, about: input, "is a folder", remedy: "use a file in this folder")
    case S_IFREG:
      guard access(input.cPath, R_OK) == 0 else {
        throw RetrogradeError(.noInput, about: input, "\(String(cString: strerror(errno)))")
      }
      guard info.st_size > 0 else { throw RetrogradeError(.damagedInput, about: input, "is empty") }
      spool = nil
      held = OpenDescriptor(input)
      path = held?.path ?? input
    default:
      // A blocking open of a pipe waits for a writer, and could not be cancelled.
      let descriptor = open(input.cPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw RetrogradeError(.noInput, about: input, "\(String(cString: strerror(errno)))")
      }
      defer { close(descriptor) }
      let spool = try Source.spool(descriptor: descriptor, input, resources, cancellation)
      self.spool = spool
      path = spool.path
    }
    facts = try Source.facts(path, cancellation)
    sourceDescription = try Source.sourceDescription(path, name, facts, resources)
    holdsImages = StillImage(facts) != nil
    Log.index.info("\(name): \(facts.size) bytes, read by \(sourceDescription)")
  }

  /// Returns the tags of the first of numbered JPEG images, as for a single image; nil for other
  /// sources. `parsebin` reads the tags of numbered images only if it uses `jpegparse`
  /// (`Quirk.jpegparseRank`). Reading all images with `jpegparse` would lose the images after a
  /// truncated one.
  func tagsOfFirstImage(_ resources: Resources, _ cancellation: Cancellation) throws -> TagList? {
    guard let firstImage, case let facts = ContainerFacts(firstImage), let image = StillImage(facts),
      case .jpeg = image
    else { return nil }
    do {
      let description = try image.sourceDescription(firstImage, name: name, memory: resources.memory)
      return try Topology(probing: firstImage, description, facts, cancellation).streams.first?.tags
    } catch let error where !(error is CancellationError) {
      // Reading the sequence reports a damaged image.
      Log.index.warning("\(firstImage): its tags are not read: \(error)")
      return nil
    }
  }

  /// True if `input` may be opened more than once; a pipe may not.
  package static func isReopenable(_ input: String) -> Bool {
    var info = stat()
    return input != "-" && (stat(Address.path(of: input).cPath, &info) != 0 || info.st_mode & S_IFMT == S_IFREG)
  }

  private static func facts(_ path: String, _ cancellation: Cancellation) throws -> ContainerFacts {
    let facts = ContainerFacts(path) { cancellation.isCancelled }
    try cancellation.check()
    return facts
  }

  private static func sourceDescription(
    _ path: String, _ name: String, _ facts: ContainerFacts, _ resources: Resources
  ) throws -> String {
    if let failure = facts.readingFailure { throw RetrogradeError(reading: name, errno: failure) }
    if let fault = facts.fault {
      throw RetrogradeError(.damagedInput, about: name, "too damaged to read: \(fault)")
    }
    // Report WAVE files without audio here, because GStreamer does not. For such a file, wavparse
    // either sends EOS before any audio, or outputs bytes of the headers as audio.
    if facts.isEmptyWave {
      throw RetrogradeError(
        .damagedInput,
        about: name,
        "contains no audio: the file ends before its audio begins, or its header is damaged"
      )
    }
    if facts.isUnusualY4M, Quirk.y4mdecDepth.applies {
      throw RetrogradeError(
        .missingPlugin,
        about: name,
        "this release of GStreamer reads Y4M only if it has 8 bits per sample in 4:2:0, 4:2:2 or 4:4:4",
        remedy: "convert it first: ffmpeg -i \(Shell.quoted(name)) -c:v ffv1 video.mkv")
    }
    if let format = facts.unreadNUTVideo, Quirk.avdemuxRawFormats.applies {
      throw RetrogradeError(
        .missingPlugin, about: name, "GStreamer does not read raw video of this pixel format in NUT (\(format))",
        remedy: "convert it first: ffmpeg -i \(Shell.quoted(name)) -map 0 -c:a copy -c:v ffv1 video.mkv")
    }
    if facts.hasMisreadFragments {
      throw RetrogradeError(
        .missingPlugin, about: name, "GStreamer misreads the times of the frames in this fragmented MP4",
        remedy: "convert it first: ffmpeg -i \(Shell.quoted(name)) -map 0 -c copy video.mkv")
    }
    try Playlist.refuse(facts.beginning, name: name)
    if let image = StillImage(facts) {
      return try image.sourceDescription(path, name: name, memory: resources.memory)
    }
    // wavparse stops after 2³¹ - 1 bytes of audio (Quirk.wavparseSize). After a queue, wavparse
    // cannot seek, and reads to the end of the file (with `ignore-length`).
    return "filesrc name=source location=\(Description.quoted(path))"
      + (facts.wave?.isCutShort == true ? " ! queue" : "")
  }

  private static func spool(
    descriptor: Int32, _ name: String, _ resources: Resources, _ cancellation: Cancellation
  ) throws -> Spool {
    let spool = try Spool(directory: resources.spoolDirectory)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { bytes.deallocate() }
    var total = 0
    while true {
      // Poll with a timeout, so that cancellation takes effect quickly. A pipe may stay silent
      // indefinitely, even without a writer: poll reports POLLHUP only after the last writer has
      // left.
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, 100)
      try cancellation.check()
      if ready == 0 || ready < 0 && errno == EINTR { continue }
      let count = read(descriptor, bytes.baseAddress, bytes.count)
      if count < 0 && [EINTR, EAGAIN].contains(errno) { continue }
      guard count >= 0 else { throw RetrogradeError(.inputOutput, about: name, "\(String(cString: strerror(errno)))") }
      if count == 0 { break }
      _ = try spool.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      total += count
    }
    guard total > 0 else { throw RetrogradeError(.damagedInput, about: name, "is empty") }
    Log.index.info("\(name): can be read once only: its \(total) bytes went to the spool, and are read from there")
    return spool
  }
}

/// Own descriptor of a file that was passed as an open descriptor. The owner of the passed
/// descriptor may close it, and the same number may then refer to another file.
private final class OpenDescriptor: Sendable {
  private let descriptor: Int32
  var path: String { "/proc/self/fd/\(descriptor)" }

  /// - Parameter path: path of the form `/proc/self/fd/N`.
  /// - Returns: nil for other paths, or if the file cannot be opened.
  init?(_ path: String) {
    guard path.hasPrefix("/proc/self/fd/") else { return nil }
    descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}

extension Spool {
  /// Copies part of a file into a new spool.
  /// - Throws: `CancellationError`, or ``RetrogradeError`` of code `inputOutput`.
  fileprivate convenience init(
    copying part: Range<Int>, of path: String, in directory: String, _ cancellation: Cancellation
  ) throws {
    try self.init(directory: directory, reserve: part.count)
    guard let file = RandomAccessFile(path) else { throw RetrogradeError(reading: path, errno: errno) }
    for start in stride(from: part.lowerBound, to: part.upperBound, by: 1 << 20) {
      try cancellation.check()
      guard let bytes = file.read(start..<min(start + 1 << 20, part.upperBound)) else {
        throw RetrogradeError(.inputOutput, about: path, "became shorter while it was read")
      }
      _ = try bytes.withUnsafeBytes { try append($0) }
    }
  }

  /// Appends the complete images of a GIF, and a trailer.
  fileprivate func append(_ blocks: GIFBlocks, of path: String) throws {
    guard let file = RandomAccessFile(path) else {
      throw RetrogradeError(.inputOutput, about: path, "\(String(cString: strerror(errno)))")
    }
    for start in stride(from: 0, to: blocks.end, by: 1 << 20) {
      guard let bytes = file.read(start..<min(start + 1 << 20, blocks.end)) else {
        throw RetrogradeError(.inputOutput, about: path, "became shorter while it was read")
      }
      _ = try bytes.withUnsafeBytes { try append($0) }
    }
    _ = try [GIFBlocks.trailer].withUnsafeBytes { try append($0) }
  }
}

extension ContainerFacts {
  /// Returns warnings about numbered images that differ from the first one.
  /// - Parameter count: number of images.
  fileprivate func differences(of count: Int) -> [Warning] {
    [("orientation", otherOrientations), ("text", otherTags)].filter { $1 > 0 }.map { what, others in
      Warning(
        .detailLeftOut,
        "left out: the \(what) of \(others) of \(counted(count, "image")), because the \(what) of the first image "
          + "is used for all",
        count: others)
    }
  }

  /// Demuxer to use instead of the demuxer that GStreamer ranks first; nil to use GStreamer's
  /// choice.
  package var demuxer: String? {
    gif != nil && Quirk.gifdecRepeats.applies && Registry.has("avdemux_gif") ? "avdemux_gif" : nil
  }
}
