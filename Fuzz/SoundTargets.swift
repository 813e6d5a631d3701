import Containers
@testable import Retrograde
@testable import RetrogradeEngine
import MediaTime

enum AudioTargets {
  static func wave(_ bytes: [UInt8]) {
    if let wave = ContainerFacts(ScratchFile.path(bytes)).wave { precondition(wave.duration >= .zero) }
  }

  /// Checks that the byte ranges of stored audio are within the file, and that the number of sample
  /// frames matches the total size of the ranges.
  static func stored(_ bytes: [UInt8]) {
    let facts = ContainerFacts(ScratchFile.path(bytes))
    for audio in facts.tracks.compactMap(\.stored) + [facts.wave?.stored].compactMap({ $0 }) {
      precondition(audio.runs.allSatisfy { 0 <= $0.lowerBound && $0.upperBound <= bytes.count })
      let total = audio.runs.reduce(0) { $0 + $1.count }
      precondition(audio.count == total / audio.frameBytes)
    }
  }

  static func mp3(_ bytes: [UInt8]) {
    let path = ScratchFile.path(bytes)
    guard let file = RandomAccessFile(path), let frame = InfoFrame(file) else { return }
    _ = frame.gapless
    _ = frame.count(in: file)
    try? MP3Header(priming: 1105, presentedSamples: 44100).apply(to: path)
    precondition(RandomAccessFile(path)?.size == bytes.count)
  }

  /// Lays out buffers with arbitrary timestamps; checks that the buffers do not overlap.
  static func layout(_ bytes: [UInt8]) {
    var draw = Draw(bytes)
    var segment = Segment()
    segment.start = ClockTime(nanoseconds: draw.nanoseconds())
    segment.time = ClockTime(nanoseconds: draw.nanoseconds())
    if draw.byte() & 1 == 1 { segment.stop = ClockTime(nanoseconds: draw.nanoseconds()) }
    // GStreamer's caps allow sample rates up to `Int32.max`.
    let rate = draw.byte() & 1 == 1 ? 44100 : draw.number(1...Int(Int32.max))
    let packets = draw.byte() & 1 == 1 ? draw.number(0...20) : nil
    var buffers: [DecodedAudio] = []
    while !draw.isEmpty {
      buffers.append(
        DecodedAudio(
          stamp: draw.byte() & 1 == 1 ? ClockTime(nanoseconds: draw.nanoseconds()) : nil,
          packetStamp: draw.byte() & 1 == 1 ? ClockTime(nanoseconds: draw.nanoseconds()) : nil,
          count: draw.number(0...1 << 31)))
    }
    guard let placed = try? AudioLayout(rate: rate, segment: segment, packetCount: packets).place(buffers).chunks else {
      return
    }
    for (a, b) in zip(placed, placed.dropFirst()) { precondition(a.position + a.count <= b.position) }
  }
}
