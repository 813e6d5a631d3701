import Glibc
import RetrogradeEngine
import Paths

/// Reports new files in a folder (inotify). A dedicated thread waits for the kernel's events.
final class FolderWatch: Sendable {
  enum Event: Sendable {
    /// The file was closed by its writer, or moved here. The file is therefore complete.
    case closed(String)
    /// The file exists. It may be complete, such as a link to another file, or about to be written.
    case appeared(String)
    /// The kernel's queue overflowed, so the folder must be read again.
    case missedSome
    /// The folder was removed or renamed, or its file system was unmounted. No further events
    /// follow.
    case gone
  }

  private let kernel: Int32
  /// Pipe. Closing its write end ends the thread.
  private let ends: (read: Int32, write: Int32)
  private let worker: Worker<Void>

  /// - Parameter tell: receives the events, on the thread that waits for them.
  /// - Throws: ``RetrogradeError`` of code `noInput` if the folder cannot be watched; `inputOutput`
  ///   if the pipe or the thread cannot be created.
  init(_ folder: String, _ tell: @escaping @Sendable (Event) -> Void) throws {
    let kernel = inotify_init1(O_CLOEXEC | O_NONBLOCK)
    let wanted = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
    guard kernel >= 0, inotify_add_watch(kernel, folder.cPath, UInt32(wanted)) >= 0 else {
      let reason = errno
      if kernel >= 0 { close(kernel) }
      throw RetrogradeError(
        .noInput, about: folder, "can't be watched: \(String(cString: strerror(reason)))",
        remedy: reason == ENOSPC || reason == EMFILE
          ? "raise this machine's limit of watched folders: sysctl fs.inotify.max_user_"
            + (reason == ENOSPC ? "watches" : "instances") : nil)
    }
    var pair: [Int32] = [-1, -1]
    guard pipe(&pair) == 0 else {
      close(kernel)
      throw RetrogradeError(.inputOutput, about: folder, "can't be watched: \(String(cString: strerror(errno)))")
    }
    for descriptor in pair { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let end = pair[0]
    (self.kernel, ends) = (kernel, (pair[0], pair[1]))
    do {
      worker = try Worker("watch") { FolderWatch.wait(kernel, until: end, tell) }
    } catch {
      for descriptor in [kernel] + pair { close(descriptor) }
      throw error
    }
  }

  /// Stops the watch. Must be called only once.
  func stop() {
    close(ends.write)
    _ = try? worker.join()
    close(ends.read)
    close(kernel)
  }

  /// Waits for events until `end` can be read, or the folder is gone.
  static func wait(_ kernel: Int32, until end: Int32, _ tell: (Event) -> Void) {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
    defer { room.deallocate() }
    while true {
      var waiting = [
        pollfd(fd: kernel, events: Int16(POLLIN), revents: 0), pollfd(fd: end, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&waiting, 2, -1) < 0 && errno != EINTR { return tell(.gone) }
      if waiting[1].revents != 0 { return }
      let count = read(kernel, room.baseAddress, room.count)
      guard count > 0 else {
        let reason = errno
        // Nothing to read yet, or interrupted by a signal. After any other error, no event follows.
        if count < 0, reason == EAGAIN || reason == EINTR { continue }
        return tell(.gone)
      }
      for event in events(in: UnsafeRawBufferPointer(rebasing: room[..<count])) {
        tell(event)
        if case .gone = event { return }
      }
    }
  }

  /// Parses the kernel's events: watch, event mask, cookie, name length, and the zero-padded name.
  private static func events(in bytes: UnsafeRawBufferPointer) -> [Event] {
    var events: [Event] = []
    var place = 0
    while place + 16 <= bytes.count {
      let mask = Int32(bitPattern: bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
      let length = Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
      let start = place + 16
      guard length <= bytes.count - start else { break }
      place = start + length
      let name = String(pathBytes: bytes[start..<place].prefix { $0 != 0 })
      func has(_ flags: Int32) -> Bool { mask & flags != 0 }
      if has(Int32(IN_Q_OVERFLOW)) {
        events.append(.missedSome)
      } else if has(Int32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) {
        events.append(.gone)
      } else if has(Int32(IN_CLOSE_WRITE | IN_MOVED_TO)) {
        events.append(.closed(name))
      } else if has(Int32(IN_CREATE)) {
        events.append(.appeared(name))
      }
    }
    return events
  }
}
