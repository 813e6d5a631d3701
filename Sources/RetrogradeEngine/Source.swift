import Glibc

/// Where the media is read from: a file, or what came through a pipe.
package struct Source: Sendable {
  /// What people call it.
  package let name: String
  /// The path that GStreamer reads.
  package private(set) var path: String
  /// What reads it, in `gst-launch-1.0` syntax: an element called `source`.
  package private(set) var opening: String
  /// Whether it ends in the middle, and what is read is put right: nothing else shows that something is missing.
  package private(set) var isCut = false
  private var spool: Spool?

  /// A pipe can be read only once, so its bytes, compressed as they are, go to the spool first: there they can be
  /// indexed and sought in like any file, which takes far less room than the decoded frames would.
  package init(_ input: String, options: ReverseOptions, cancellation: Cancellation) throws {
    try self.init(reading: input, options: options, cancellation: cancellation)
    guard let file = MovieFile(path), let blocks = GIFBlocks(file), !blocks.isWhole else { return }
    guard blocks.pictures > 0 else {
      throw RetrogradeError(.damagedInput, "\(name): cut: the file ends inside its first picture")
    }
    // avdemux_gif waits for the rest of a GIF that ends in the middle: without its last picture it is whole.
    let whole = try Spool(directory: options.spoolDirectory)
    try blocks.copy(file, to: whole)
    spool = whole
    path = whole.path
    opening = try Source.opening(path, name)
    isCut = true
  }

  private init(reading input: String, options: ReverseOptions, cancellation: Cancellation) throws {
    name = input == "-" ? "standard input" : input
    if input == "-" {
      let spool = try Source.spool(descriptor: STDIN_FILENO, name, options, cancellation)
      self.spool = spool
      path = spool.path
      opening = try Source.opening(path, name)
      return
    }
    var info = stat()
    let exists = stat(input, &info) == 0
    if !exists, let sequence = try ImageSequence(input) {
      spool = nil
      path = input
      opening = sequence.opening(options.sequenceRate)
      return
    }
    guard exists else {
      if let address = Playlist.address(input) { throw address }
      throw RetrogradeError(.noInput, "\(input): \(String(cString: strerror(errno)))")
    }
    switch info.st_mode & S_IFMT {
    case S_IFDIR:
      throw RetrogradeError(.noInput, "\(input): is a folder; name a file in it")
    case S_IFREG:
      guard access(input, R_OK) == 0 else {
        throw RetrogradeError(.noInput, "\(input): \(String(cString: strerror(errno)))")
      }
      guard info.st_size > 0 else { throw RetrogradeError(.damagedInput, "\(input): is empty") }
      spool = nil
      path = input
    default:
      // Opening a pipe waits for somebody to write to it, and no cancelling would end that.
      let descriptor = open(input, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw RetrogradeError(.noInput, "\(input): \(String(cString: strerror(errno)))") }
      defer { close(descriptor) }
      let spool = try Source.spool(descriptor: descriptor, input, options, cancellation)
      self.spool = spool
      path = spool.path
    }
    opening = try Source.opening(path, name)
  }

  /// Whether it may be opened more than once: what comes through a pipe is gone.
  package static func canBeReadAgain(_ input: String) -> Bool {
    var info = stat()
    return input != "-" && (stat(input, &info) != 0 || info.st_mode & S_IFMT == S_IFREG)
  }

  private static func opening(_ path: String, _ name: String) throws -> String {
    try Playlist.refuse(path, name: name)
    if let picture = StillPicture(path) { return picture.opening(path) }
    return "filesrc name=source location=\(Description.quoted(path))"
      + (WaveFile(path)?.isCutShort == true ? " ! queue" : "")
  }

  private static func spool(
    descriptor: Int32, _ name: String, _ options: ReverseOptions, _ cancellation: Cancellation
  ) throws -> Spool {
    let spool = try Spool(directory: options.spoolDirectory)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { bytes.deallocate() }
    var total = 0
    while true {
      // A pipe may stay silent for as long as it likes, also before anybody writes to it (poll says POLLHUP only when the last
      // writer has gone); cancelling still takes effect at once.
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, 100)
      try cancellation.check()
      if ready == 0 || ready < 0 && errno == EINTR { continue }
      let count = read(descriptor, bytes.baseAddress, bytes.count)
      if count < 0 && [EINTR, EAGAIN].contains(errno) { continue }
      guard count >= 0 else { throw RetrogradeError(.inputOutput, "\(name): \(String(cString: strerror(errno)))") }
      if count == 0 { break }
      _ = try spool.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      total += count
    }
    guard total > 0 else { throw RetrogradeError(.damagedInput, "\(name): is empty") }
    return spool
  }
}
