import Glibc
import MediaTime

/// FLAC file without a container such as Ogg: its STREAMINFO (RFC 9639, 8.2) and the position of
/// its frames.
struct FLACStream {
  /// Offset of the first field of STREAMINFO.
  let infoPlace: Int
  private let framesPlace: Int
  /// Four-letter names of the applications that stored data in the file (8.4).
  let applications: [String]
  let form: FLACForm
  /// Number of sample frames; nil if STREAMINFO does not declare their number.
  let total: Int?
  private let file: RandomAccessFile

  /// - Parameter place: offset of the marker `fLaC`.
  init?(_ file: RandomAccessFile, at place: Int) {
    infoPlace = place + 8
    guard file.text(at: place) == "fLaC", let bytes = file.read(infoPlace..<infoPlace + 18) else { return nil }
    form = FLACForm(
      rate: bytes.number(10..<13) >> 4, channels: Int(bytes[12] >> 1 & 7) + 1,
      bits: (bytes.number(12..<14) >> 4 & 0x1F) + 1)
    let count = bytes.number(13..<18) & 0xF_FFFF_FFFF
    total = count > 0 ? count : nil
    self.file = file
    var next = place + 4
    var applications: [String] = []
    while let header = file.read(next..<next + 4) {
      if header[0] & 0x7F == 2, let name = file.text(at: next + 4) { applications.append(name) }
      next += 4 + header.number(1..<4)
      if header[0] & 0x80 != 0 { break }
    }
    framesPlace = next
    self.applications = applications
  }

  /// Returns how the format of frames differs from STREAMINFO; nil if it does not differ. Reads the
  /// file up to the first frame with another sample rate or number of channels.
  ///
  /// About forty times per hour of audio, random bytes look like a frame header, so only frames
  /// with a correct checksum count.
  func change() -> FLACChange? {
    guard form.rate > 0 else { return nil }
    var other: (place: Int, form: FLACForm)?
    var change: FLACChange?
    func check(until end: Int) {
      guard let found = other, isFrame(found.place..<end) else { return }
      let isDepth = found.form.rate == form.rate && found.form.channels == form.channels
      change = isDepth ? change ?? .depth : .rateOrChannels
    }
    walk { place, frame in
      check(until: place)
      let own = frame.form(form)
      other = own == form ? nil : (place, own)
      return change != .rateOrChannels
    }
    check(until: file.size)
    return change
  }

  /// Returns the declared end of the audio: the sum of the durations of all frames, plus the
  /// samples that STREAMINFO declares but the file lacks. Reads the whole file.
  func end() -> ClockTime? {
    guard let total else { return nil }
    var (seconds, count, rate) = (0.0, 0, form.rate)
    var last: (place: Int, frame: FLACFrame)?
    func add(until end: Int) {
      guard let found = last, isFrame(found.place..<end) else { return }
      rate = found.frame.form(form).rate
      guard rate > 0 else { return }
      seconds += Double(found.frame.blockSize) / Double(rate)
      count += found.frame.blockSize
    }
    walk { place, frame in
      add(until: place)
      last = (place, frame)
      return true
    }
    add(until: file.size)
    guard rate > 0 else { return nil }
    return ClockTime(seconds: seconds + Double(max(total - count, 0)) / Double(rate))
  }

  private func isFrame(_ range: Range<Int>) -> Bool {
    // Frames are always smaller than 4 MiB.
    guard range.count < 1 << 22, let bytes = file.read(range) else { return false }
    return FLACChecksum.frame(bytes) == 0
  }

  /// Visits all bytes that look like a frame header.
  /// - Parameter visit: called with each header and its offset; returns false to stop.
  private func walk(_ visit: (Int, FLACFrame) -> Bool) {
    var place = framesPlace
    let step = 1 << 20
    while place < file.size, let bytes = file.read(place..<min(place + step + FLACFrame.longest, file.size)) {
      let goesOn = bytes.withUnsafeBytes { bytes in
        var next = 0
        while next < min(step, bytes.count), let base = bytes.baseAddress,
          let found = memchr(base + next, 0xFF, min(step, bytes.count) - next)
        {
          let here = UnsafeRawPointer(found) - base
          if let frame = FLACFrame(bytes, at: here), !visit(place + here, frame) { return false }
          next = here + 1
        }
        return true
      }
      guard goesOn else { return }
      place += step
    }
  }
}
