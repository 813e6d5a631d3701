import CGStreamer
import Glibc
import Paths

/// Incremental SHA-256 digest (GLib's `GChecksum`).
package final class Checksum {
  private let raw: OpaquePointer?

  package init() { raw = g_checksum_new(G_CHECKSUM_SHA256) }
  deinit { g_checksum_free(raw) }

  package func add(_ bytes: UnsafeRawBufferPointer) {
    g_checksum_update(raw, bytes.bindMemory(to: guchar.self).baseAddress, gssize(bytes.count))
  }

  /// Digest in hexadecimal. No data can be added after this property has been read.
  package var digest: String { raw.flatMap { g_checksum_get_string($0) }.map { String(cString: $0) } ?? "" }

  /// Returns the digest and the size of a file.
  /// - Returns: nil if the file cannot be read; `errno` has the reason.
  package static func digest(ofFile path: String) -> (digest: String, size: Int)? {
    guard let file = fopen(path.cPath, "re") else { return nil }
    defer { fclose(file) }
    let sum = Checksum()
    var size = 0
    var block = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = fread(&block, 1, block.count, file)
      block.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      size += count
      if count < block.count { return ferror(file) == 0 ? (sum.digest, size) : nil }
    }
  }
}
