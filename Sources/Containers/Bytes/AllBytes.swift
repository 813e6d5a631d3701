import Glibc

/// Writes all of `bytes` at `offset` of a file; continues after partial and interrupted writes.
/// - Returns: false if writing fails; `errno` says why.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { pwrite(descriptor, $0 + done, bytes.count - done, off_t(offset + done)) } ?? 0
  }
}

/// Writes all of `bytes` at the current position of `descriptor`, which may be a pipe.
/// - Returns: false if writing fails; `errno` says why.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { write(descriptor, $0 + done, bytes.count - done) } ?? 0
  }
}

/// Fills `bytes` from `offset` of a file.
/// - Returns: false if the file is too short, or reading fails; `errno` says why.
package func readAll(_ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int) -> Bool {
  transferAll(bytes.count) { done in
    bytes.baseAddress.map { pread(descriptor, $0 + done, bytes.count - done, off_t(offset + done)) } ?? 0
  }
}

/// Calls `part` until `count` bytes are transferred. Repeats calls that a signal interrupted.
/// - Parameter part: reads or writes bytes from position `done`; returns the number of transferred
///   bytes, or -1 on failure, like `pread` and `pwrite`.
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
