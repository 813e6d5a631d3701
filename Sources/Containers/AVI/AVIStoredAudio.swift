extension StoredAudio {
  /// Finds the byte ranges of the audio samples in an AVI file whose only stream is PCM ("AVI RIFF
  /// File Reference", Microsoft; for long files, "OpenDML AVI File Format Extensions").
  /// - Returns: nil if the file has other streams, another format, a start other than 0, or
  ///   unexpected RIFF chunks.
  init?(avi file: RandomAccessFile) {
    let streams = file.aviStreams
    guard streams.count == 1, let parts = streams.first.map({ file.chunks(in: $0) }),
      let header = parts.first, header.name == "strh", file.text(at: header.body.lowerBound) == "auds",
      let form = parts.first(where: { $0.name == "strf" }),
      let pcm = PCMFormat(file, at: (form.body.lowerBound, form.body.count)), pcm.name != nil
    else { return nil }
    func field(_ offset: Int) -> Int? { file.number(at: header.body.lowerBound + offset, 4, isLittleEndian: true) }
    // The stream must start at 0, have no initial frames, and be counted in sample frames.
    guard let scale = field(20), let rate = field(24), field(16) == 0, field(28) == 0, field(44) == pcm.frameBytes,
      scale > 0, rate.isMultiple(of: scale), rate / scale == pcm.rate
    else { return nil }
    self.init(frameBytes: pcm.frameBytes, rate: pcm.rate)
    let isWhole = file.forEachChunk(in: 0..<file.size) { name, body in
      guard name == "RIFF", ["AVI ", "AVIX"].contains(file.text(at: body.lowerBound) ?? "") else { return false }
      return file.forEachChunk(in: body.dropFirst(4)) { name, body in
        guard name == "LIST", file.text(at: body.lowerBound) == "movi" else { return true }
        return append(list: body.dropFirst(4), of: file)
      }
    }
    if !isWhole || runs.isEmpty { return nil }
  }

  /// Appends the packets of a list, including nested lists.
  /// - Returns: false at an unexpected RIFF chunk, or at a packet that ends within a sample frame.
  private mutating func append(list: Range<Int>, of file: RandomAccessFile, isNested: Bool = false) -> Bool {
    file.forEachChunk(in: list) { name, body in
      switch name {
      case "00wb":
        append(body)
        return body.count.isMultiple(of: frameBytes)
      // `ix00` is an index of the stream, and `JUNK` is padding.
      case "ix00", "JUNK": return true
      case "LIST":
        return !isNested && file.text(at: body.lowerBound) == "rec "
          && append(list: body.dropFirst(4), of: file, isNested: true)
      default: return false
      }
    }
  }
}
