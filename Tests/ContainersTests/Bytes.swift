import Containers
import Foundation

/// Returns the concatenated bytes of the parts: text as UTF-8, `UInt32` as big-endian, byte arrays
/// unchanged.
func bytes(_ parts: Any...) -> [UInt8] {
  parts.flatMap { part -> [UInt8] in
    switch part {
    case let text as String: Array(text.utf8)
    case let number as UInt32: withUnsafeBytes(of: number.bigEndian, Array.init)
    case let list as [UInt8]: list
    default: []
    }
  }
}

/// Returns the number as 32 bits, little-endian.
func little(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.littleEndian, Array.init) }

/// Returns the number in `size` bytes, big-endian.
func big(_ number: Int, _ size: Int) -> [UInt8] {
  (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

func box(_ type: String, _ body: [UInt8]) -> [UInt8] { Box.header(type, body.count) + body }
