import MediaTime

/// Hides markers (`cue `) from wavparse, which is slow if there are many: it searches all labels
/// for each marker. ``WAVEChunks`` reads the markers instead.
struct WAVECorrection: FileCorrection {
  let demuxer = "wavparse"
  let isForProbing = true
  let ends: [String: ClockTime] = [:]
  /// Byte range of the name of each RIFF chunk called `cue `.
  private let names: [Range<Int>]

  /// Maximum number of hidden RIFF chunks. There is a limit because the range of each buffer is
  /// compared with all of these chunks; normal files have one `cue `.
  private static let most = 16

  /// - Returns: nil if the file has no markers, or is Wave64.
  init?(_ file: RandomAccessFile) {
    var names: [Range<Int>] = []
    WAVEHeader.forEachChunk(in: file) { name, body in
      if name == "cue " { names.append(body.lowerBound - 8..<body.lowerBound - 4) }
      return names.count < Self.most
    }
    guard !names.isEmpty, file.text(at: 0) != "riff" else { return nil }
    self.names = names
  }

  func changes(_ range: Range<Int>) -> Bool { names.contains { $0.overlaps(range) } }

  /// Renames the RIFF chunks `cue ` to `JUNK`.
  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    for name in names {
      for place in name.clamped(to: offset..<offset + bytes.count) {
        bytes[place - offset] = Array("JUNK".utf8)[place - name.lowerBound]
      }
    }
  }
}
