import Glibc

/// Writes all of `bytes` at `offset` of a file, and continues after partial writes and signals.
/// - Returns: false if that fails; `errno` says why.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { pwrite(descriptor, $0 + done, bytes.count - done, off_t(offset + done)) } ?? 0
  }
}

/// Writes all bytes at the current position of the descriptor, such as a pipe.
/// - Returns: false if that fails; `errno` says why.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { write(descriptor, $0 + done, bytes.count - done) } ?? 0
  }
}

/// Fills `bytes` from `offset` of a file.
/// - Returns: false if the file ends before that, or reading fails; `errno` says why.
package func readAll(_ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { pread(descriptor, $0 + done, bytes.count - done, off_t(offset + done)) } ?? 0
  }
}

/// Repeats `part` until `count` bytes are transferred.
/// - Parameter part: reads or writes bytes from position `done`; returns as `pread` and `pwrite`
///   do.
private func transferAll(_ count: Int, _ part: (_ done: Int) -> Int) -> Bool {
  var done = 0
  while done < count {
    let more = part(done)
    if more < 0 && errno == EINTR { continue }
    if more == 0 { errno = EIO }  // premature end of the file
    guard more > 0 else { return false }
    done += more
  }
  return true
}
