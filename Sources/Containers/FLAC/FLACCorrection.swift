import MediaTime

/// Clears the minimum and maximum frame size in STREAMINFO. flacparse ignores frames beyond these
/// bounds (`gst_flac_parse_frame_is_valid`), but the bounds may be wrong if the format changes
/// between frames.
struct FLACCorrection: FileCorrection {
  let demuxer = "flacparse"
  let isForProbing = true
  let ends: [String: ClockTime] = [:]
  private let bounds: Range<Int>

  init(_ stream: FLACStream) { bounds = stream.infoPlace + 4..<stream.infoPlace + 10 }

  func changes(_ range: Range<Int>) -> Bool { range.overlaps(bounds) }

  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    for place in bounds.clamped(to: offset..<offset + bytes.count) { bytes[place - offset] = 0 }
  }
}
