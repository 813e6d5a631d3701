import MediaTime

extension StoredAudio {
  /// Finds the byte ranges of the audio samples in a Matroska file with a single PCM track (RFC
  /// 9559, 10).
  /// - Parameters:
  ///   - track: EBML elements of the only `TrackEntry`.
  ///   - segment: body of the `Segment` element.
  /// - Returns: nil if the audio is not PCM, has gaps in time, or is laced, or if an EBML element
  ///   may change the audio.
  init?(_ track: [EBMLElement], in segment: Range<Int>, of file: RandomAccessFile) {
    func element(_ id: UInt32) -> EBMLElement? { track.first { $0.id == id } }
    let audio = element(MatroskaID.audio).map { EBMLElement.all(in: $0.bytes) } ?? []
    func number(_ id: UInt32, or usual: Int64) -> Int64 { audio.first { $0.id == id }?.number ?? usual }
    let isPlain = ![MatroskaID.codecDelay, MatroskaID.contentEncodings].contains { element($0) != nil }
    let channels = number(MatroskaID.channels, or: 1)
    let bits = number(MatroskaID.bitDepth, or: 0)
    guard isPlain, let codec = element(MatroskaID.codec), codec.bytes.starts(with: "A_PCM/".utf8),
      let name = element(MatroskaID.trackNumber)?.number, (1..<0x7F).contains(name), (1...255).contains(channels),
      [8, 16, 24, 32, 64].contains(bits),
      let rate = audio.first(where: { $0.id == MatroskaID.samplingFrequency })?.float.flatMap({ Int(exactly: $0) })
    else { return nil }
    self.init(frameBytes: Int(channels * bits / 8), rate: rate)
    var scale: Int64 = 1_000_000
    // False if the closure returned false, or the walk ended early at a damaged EBML element or one
    // of unknown length.
    let isWhole = file.forEachElement(in: segment) { id, body in
      if id == MatroskaID.info {
        guard body.count < 1 << 20, let bytes = file.read(body) else { return false }
        scale = EBMLElement.all(in: bytes).first { $0.id == MatroskaID.timestampScale }?.number ?? scale
      }
      return id != MatroskaID.cluster || append(cluster: body, of: file, UInt8(0x80 | name), scale)
    }
    if !isWhole || runs.isEmpty { return nil }
  }

  /// Appends the blocks of a cluster.
  /// - Returns: false if a block cannot be used, such as one that does not start where the previous
  ///   block ends.
  private mutating func append(cluster: Range<Int>, of file: RandomAccessFile, _ track: UInt8, _ scale: Int64) -> Bool {
    var time: Int?
    return file.forEachElement(in: cluster) { id, body in
      switch id {
      case MatroskaID.timestamp: time = file.number(at: body.lowerBound, min(body.count, 8))
      case MatroskaID.simpleBlock: return append(block: body, of: file, track, time, scale)
      case MatroskaID.blockGroup:
        let parts = file.elements(in: body)
        // Other EBML elements of a block group, such as `DiscardPadding`, may change the audio.
        let blocks = parts.filter { $0.id != MatroskaID.blockDuration }
        guard let block = blocks.first, blocks.count == 1, block.id == MatroskaID.block else { return false }
        return append(block: block.body, of: file, track, time, scale)
      default: break
      }
      return true
    }
  }

  /// Appends the audio samples of a block.
  /// - Parameter time: timestamp of the cluster in ticks.
  private mutating func append(
    block: Range<Int>, of file: RandomAccessFile, _ track: UInt8, _ time: Int?, _ scale: Int64
  ) -> Bool {
    // A block header has the track, the time relative to the cluster, and flags. The flags must not
    // declare lacing.
    guard let time, time < 1 << 40, (1...1_000_000_000).contains(scale), block.count > 4,
      let header = file.read(block.lowerBound..<block.lowerBound + 4), header[0] == track, header[3] & 6 == 0,
      (block.count - 4).isMultiple(of: frameBytes)
    else { return false }
    let offset = Int(Int16(bitPattern: UInt16(header[1]) << 8 | UInt16(header[2])))
    let (start, isOver) = Int64(time + offset).multipliedReportingOverflow(by: scale)
    if isOver { return false }
    // Block times are rounded or truncated to a tick, so a block may start up to one tick before or
    // after the end of the previous block.
    let late = ClockTime(nanoseconds: start) - ClockTime(sampleIndex: count, rate: rate)
    guard abs(late.nanoseconds) <= scale, count > 0 || start == 0 else { return false }
    append(block.lowerBound + 4..<block.upperBound)
    return true
  }
}
