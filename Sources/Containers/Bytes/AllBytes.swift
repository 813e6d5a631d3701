import Glibc

/// Writes all of `bytes` at `offset` of a file: a call may take a part of them, and a signal may interrupt it.
/// - Returns: false where that fails; `errno` says why.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { pwrite(descriptor, $0 + done, bytes.count - done, off_t(offset + done)) } ?? 0
  }
}

/// Writes all bytes where the descriptor stands, as to a pipe.
/// - Returns: false if that fails; `errno` says why.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { write(descriptor, $0 + done, bytes.count - done) } ?? 0
  }
}

/// Reads as many bytes as `bytes` has, from `offset` of a file.
/// - Returns: false where there are not so many, or reading fails; `errno` says why.
package func readAll(_ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { pread(descriptor, $0 + done, bytes.count - done, off_t(offset + done)) } ?? 0
  }
}

/// - Parameter part: reads or writes the bytes after those that are done, as `pread` and `pwrite` do.
private func transferAll(_ count: Int, _ part: (_ done: Int) -> Int) -> Bool {
  var done = 0
  while done < count {
    let more = part(done)
    if more < 0 && errno == EINTR { continue }
    if more == 0 { errno = EIO }  // the end of the file, where there should be more
    guard more > 0 else { return false }
    done += more
  }
  return true
}
