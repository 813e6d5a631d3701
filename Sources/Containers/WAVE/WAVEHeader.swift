package import MediaTime

/// Facts from the header of a WAVE file, or of one of its variants for long files: RF64 (EBU Tech
/// 3306) or Sony's Wave64.
package struct WAVEHeader: Sendable {
  package let duration: ClockTime
  /// Duration of the complete sample frames that are in the file; shorter than ``duration`` if the
  /// file is truncated.
  package let held: ClockTime
  /// True if the file has more audio than wavparse reads (`Quirk.wavparseSize`).
  package let isCutShort: Bool
  /// True if the file ends before the declared end of the audio; false if the declared size is only
  /// a placeholder of a program that wrote to a pipe.
  package let isIncomplete: Bool
  /// Byte range of the audio, even of compressed audio; nil if the header does not declare a
  /// plausible format. Unless the file is Wave64, also nil if the audio is truncated or ends with a
  /// partial sample frame.
  package let stored: StoredAudio?
  /// Sample format of a Wave64 file; nil for other files. GStreamer reports this format only after
  /// decoding with libsndfile.
  package let wave64: PCMFormat?
  /// ``ContainerFacts/uncommonAudio``: name of the format in Wave64 if it is not PCM; otherwise
  /// nil.
  let uncommonFormat: String?
  /// Declared sample frames per second; nil if the header does not declare a plausible format.
  package let rate: Int?
  /// Channel mask, one bit per `GstAudioChannelPosition`; nil if not declared.
  package let loudspeakers: UInt64?
  /// RIFF chunks of the file, except the audio.
  package let chunks: WAVEChunks

  /// - Returns: nil if the file is not WAVE, RF64 or Wave64, or its values are not plausible.
  package init?(_ file: RandomAccessFile) {
    guard let data = WAVEHeader.chunk("data", in: file), let format = WAVEHeader.chunk("fmt ", in: file),
      let bytesPerSecond = file.number(at: format.body + 8, 4, isLittleEndian: true)
    else { return nil }
    let bytes = data.size == 0xFFFF_FFFF ? WAVEHeader.longSize(in: file) ?? data.size : data.size
    guard bytes > 0 else { return nil }
    let isWave64 = file.text(at: 0) == "riff"
    isCutShort = !isWave64 && bytes > Int(Int32.max)
    // A program that writes to a pipe does not know the length, so it declares the maximum length
    // or a value close to the maximum.
    let isUnknown = bytes == data.size && (bytes >= 0xFFFF_0000 || (0x7FFF_0000...0x8000_0000).contains(bytes))
    isIncomplete = bytes > file.size - data.body && !isUnknown
    let isExtensible = file.number(at: format.body, 2, isLittleEndian: true) == 0xFFFE
    let mask = isExtensible && format.size >= 24 ? file.number(at: format.body + 20, 4, isLittleEndian: true) : nil
    loudspeakers = mask.flatMap { $0 == 0 ? nil : WAVEMask.places(of: $0) }
    let pcm = PCMFormat(file, at: format)
    // Use the number of sample frames in `fact` if the header does not declare a plausible format,
    // or if the bytes per second are unknown.
    if pcm == nil || bytesPerSecond == 0, let fact = WAVEHeader.chunk("fact", in: file), fact.size >= 4,
      let count = file.number(at: fact.body, 4, isLittleEndian: true), count > 0, count < 0xFFFF_0000,
      let rate = file.number(at: format.body + 4, 4, isLittleEndian: true), rate > 0
    {
      duration = ClockTime(sampleIndex: count, rate: rate)
    } else {
      // FFmpeg declares 0 bytes per second for MP3 with a variable bit rate.
      guard bytesPerSecond > 0, bytes / bytesPerSecond < 1 << 32 else { return nil }
      duration = ClockTime(sampleIndex: bytes, rate: bytesPerSecond)
    }
    wave64 = isWave64 ? pcm : nil
    let tag = file.number(at: format.body, 2, isLittleEndian: true) ?? 0
    uncommonFormat = isWave64 && pcm?.name == nil ? "Wave64 with format tag \(tag)" : nil
    rate = pcm?.rate
    let there = min(bytes, max(file.size - data.body, 0))
    held =
      pcm.flatMap {
        $0.name == nil ? nil : ClockTime(sampleIndex: there / $0.frameBytes, rate: $0.rate)
      }
      ?? (bytesPerSecond > 0
        ? ClockTime(sampleIndex: there, rate: bytesPerSecond)
        : ClockTime(seconds: duration.seconds * Double(there) / Double(bytes)))
    var stored = pcm.flatMap { StoredAudio(frameBytes: $0.frameBytes, rate: $0.rate) }
    let isWhole = bytes <= file.size - data.body && bytes.isMultiple(of: stored?.frameBytes ?? 1)
    // Read truncated Wave64 here too: the alternative is libsndfile, which wrongly reads float
    // samples of more than two channels as integers.
    let count = isWave64 ? there - there % (stored?.frameBytes ?? 1) : min(bytes, file.size)
    stored?.append(data.body..<data.body + count)
    self.stored = isWhole || isWave64 ? stored : nil
    chunks = WAVEChunks(file, frameCount: bytes / max(pcm?.frameBytes ?? 1, 1))
  }

  /// True if the file ends before the end of its first sample frame.
  static func isEmpty(_ file: RandomAccessFile) -> Bool {
    guard let data = chunk("data", in: file) else { return true }
    let frame = chunk("fmt ", in: file).flatMap { file.number(at: $0.body + 12, 2, isLittleEndian: true) }
    return file.size - data.body < max(frame ?? 1, 1)
  }

  /// Returns the offset and size in bytes of the body of the first RIFF chunk called `name`; nil if
  /// the file ends before that chunk.
  static func chunk(_ name: String, in file: RandomAccessFile) -> (body: Int, size: Int)? {
    var found: (body: Int, size: Int)?
    forEachChunk(in: file, isLong: false) {
      if $0 == name { found = ($1.lowerBound, $1.count) }
      return found == nil
    }
    return found
  }

  /// Calls `visit` with each RIFF chunk, until `visit` returns false. The last chunk may extend
  /// beyond the end of the file.
  /// - Parameter isLong: true to use the size of the audio that `ds64` declares, if present.
  static func forEachChunk(
    in file: RandomAccessFile, isLong: Bool = true, _ visit: (_ name: String, _ body: Range<Int>) -> Bool
  ) {
    // Wave64 has 16-byte identifiers, and 8-byte lengths that include the header.
    let isWave64 = file.text(at: 0) == "riff"
    let header = isWave64 ? 24 : 8
    let unit = isWave64 ? 8 : 2
    var place = isWave64 ? 40 : 12
    while let found = file.text(at: place),
      let written = file.number(at: place + header - (isWave64 ? 8 : 4), isWave64 ? 8 : 4, isLittleEndian: true)
    {
      if !isWave64, written == 0, found.utf8.allSatisfy({ $0 == 0 }) {
        place = file.endOfEmptyChunks(at: place)
        continue
      }
      var size = isWave64 ? written - header : written
      if isLong, found == "data", size == 0xFFFF_FFFF, let long = longSize(in: file) { size = long }
      guard (0..<1 << 60).contains(size), visit(found, place + header..<place + header + size) else { return }
      place += header + (size + unit - 1) / unit * unit
    }
  }

  /// Returns the size of the audio in bytes as declared in `ds64`; nil if the file has no `ds64`.
  private static func longSize(in file: RandomAccessFile) -> Int? {
    chunk("ds64", in: file).flatMap { file.number(at: $0.body + 8, 8, isLittleEndian: true) }
  }

  /// Returns the offset of the RIFF chunk after the audio; nil if the audio is truncated. The
  /// offset is one byte beyond the end of the file if the padding byte after the audio is missing.
  static func endOfSamples(in file: RandomAccessFile) -> Int? {
    var end: Int?
    forEachChunk(in: file) {
      if $0 == "data" { end = $1.upperBound + $1.count % 2 }
      return end == nil
    }
    return end.flatMap { $0 <= file.size + 1 ? $0 : nil }
  }
}

extension ContainerReport {
  init(_ wave: WAVEHeader) {
    self.init(
      isCut: wave.isIncomplete, end: wave.duration,
      streams: [Stream(kind: .audio, frames: nil, end: wave.duration)], countsSamples: wave.rate != nil)
  }
}
