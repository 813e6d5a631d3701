import MediaTime
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

@Suite struct AudioLayoutTests {
  private func stamped(_ milliseconds: [Int], count: Int = 1000) -> [DecodedAudio] {
    milliseconds.map { ms in
      let time = ClockTime(nanoseconds: Int64(ms) * 1_000_000)
      return DecodedAudio(stamp: time, packetStamp: time, count: count)
    }
  }

  @Test("timestamp jitter does not move the audio")
  func jitter() throws {
    let layout = AudioLayout(rate: 48000, segment: Segment())
    let chunks = try layout.place(stamped([0, 21, 41, 63, 84])).chunks
    #expect(chunks == [AudioChunk(position: 0, count: 5000, offset: 0)])
  }

  @Test(
    "the second timestamp determines the start of Opus in Matroska",
    arguments: [(19_500, 6.5, 288), (19_500, 0, 0), (14_500, 6.5, 0)])
  func cutPriming(second microseconds: Int, priming milliseconds: Double, start: Int) throws {
    var layout = AudioLayout(rate: 48000, segment: Segment())
    layout.cutPriming = ClockTime(seconds: milliseconds / 1000)
    let buffers = [(0, 648), (microseconds, 960), (microseconds + 20_000, 960)].map { time, count in
      let stamp = ClockTime(nanoseconds: Int64(time) * 1000)
      return DecodedAudio(stamp: stamp, packetStamp: stamp, count: count)
    }
    #expect(try layout.place(buffers).chunks == [AudioChunk(position: start, count: 2568, offset: 0)])
  }

  @Test("a gap stays a gap")
  func gap() throws {
    let layout = AudioLayout(rate: 48000, segment: Segment())
    let chunks = try layout.place(stamped([0, 21, 1000])).chunks
    #expect(
      chunks == [
        AudioChunk(position: 0, count: 2000, offset: 0), AudioChunk(position: 48000, count: 1000, offset: 2000),
      ])
  }

  @Test("audio outside the GStreamer segment is trimmed")
  func outsideSegment() throws {
    var segment = Segment()
    segment.start = ClockTime(sampleIndex: 1024, rate: 48000)
    segment.stop = ClockTime(sampleIndex: 4000, rate: 48000)
    let buffers = (0..<5).map { index in
      DecodedAudio(stamp: ClockTime(sampleIndex: index * 1024, rate: 48000), packetStamp: nil, count: 1024)
    }
    let chunks = try AudioLayout(rate: 48000, segment: segment).place(buffers).chunks
    #expect(chunks == [AudioChunk(position: 0, count: 2976, offset: 1024)])
  }

  @Test("audio before the first timestamp does not move the rest of the audio")
  func beforeFirstTimestamp() throws {
    var segment = Segment()
    segment.stop = ClockTime(sampleIndex: 2001, rate: 48000)
    let buffers = [(0, 959), (0, 1), (1, 1000), (1001, 1000)].map { place, count in
      DecodedAudio(stamp: ClockTime(sampleIndex: place, rate: 48000), packetStamp: nil, count: count)
    }
    let chunks = try AudioLayout(rate: 48000, segment: segment).place(buffers).chunks
    #expect(chunks == [AudioChunk(position: 0, count: 2001, offset: 959)])
  }

  @Test("if a decoder drops the first packet, the later packets determine the times of its output")
  func droppedFirstPacket() throws {
    // GstAudioDecoder gives its first output the timestamp of the first packet, although this
    // output is decoded from the second packet.
    let buffers = (0..<4).map { index in
      DecodedAudio(
        stamp: ClockTime(sampleIndex: index * 1024, rate: 48000),
        packetStamp: ClockTime(sampleIndex: (index + 1) * 1024, rate: 48000), count: 1024)
    }
    let early = try AudioLayout(rate: 48000, segment: Segment(), packetCount: 5).place(buffers).chunks
    #expect(early == [AudioChunk(position: 1024, count: 4096, offset: 0)])
    let delayed = try AudioLayout(rate: 48000, segment: Segment(), packetCount: 4).place(buffers).chunks
    #expect(delayed == [AudioChunk(position: 0, count: 4096, offset: 0)])
  }

  /// Packets 3 and 4 are missing. libFLAC inserts two silent frames before packet 5, and
  /// GstAudioDecoder gives the first silent frame the timestamp of packet 5.
  @Test("silence inserted by flacdec takes no time on the timeline")
  func flacdecSilence() throws {
    let numbers = [1, 2, 5, 5, 5, 6]
    let stamps = [0, 1, 4, 5, 6, 5]
    let buffers = zip(numbers, stamps).map { number, stamp in
      DecodedAudio(
        stamp: ClockTime(sampleIndex: stamp * 4800, rate: 48000),
        packetStamp: ClockTime(sampleIndex: (number - 1) * 4800, rate: 48000), count: 4800, packet: number,
        isSilent: number == 5)
    }
    for packetCount in [4, 8] {
      var layout = AudioLayout(rate: 48000, segment: Segment(), packetCount: packetCount)
      layout.fillsGaps = true
      #expect(
        try layout.place(buffers).chunks == [
          AudioChunk(position: 0, count: 9600, offset: 0),
          AudioChunk(position: 4 * 4800, count: 9600, offset: 4 * 4800),
        ])
    }
  }

  @Test("two buffers of one packet are kept unless they are silent and a packet is missing before them")
  func buffersOfOnePacket() throws {
    for (isSilent, missing) in [(true, 0), (false, 4800)] {
      let buffers = [0, 1, 1, 2].enumerated().map { index, number in
        DecodedAudio(
          stamp: ClockTime(sampleIndex: index * 4800 + (number > 0 ? missing : 0), rate: 48000),
          packetStamp: ClockTime(sampleIndex: [0, 1, 3][number] * 4800 + (number > 0 ? missing : 0), rate: 48000),
          count: 4800, packet: number, isSilent: isSilent)
      }
      var layout = AudioLayout(rate: 48000, segment: Segment(), packetCount: 3)
      layout.fillsGaps = true
      #expect(try layout.place(buffers).chunks.reduce(0) { $0 + $1.count } == 4 * 4800)
    }
  }

  @Test(
    "Ogg audio that begins before 0 is trimmed, but an early last timestamp alone trims nothing",
    arguments: [([0, 576, 1100, 2124, 3148], 4172, 500), ([0, 576, 1600, 2624, 3148], 4672, 0)])
  func beforeZero(places: [Int], count: Int, offset: Int) throws {
    let buffers = zip(places, [576, 1024, 1024, 1024, 1024]).map { place, count in
      DecodedAudio(stamp: ClockTime(sampleIndex: place, rate: 48000), packetStamp: nil, count: count)
    }
    var layout = AudioLayout(rate: 48000, segment: Segment())
    layout.countsFromZero = true
    #expect(try layout.place(buffers).chunks == [AudioChunk(position: 0, count: count, offset: offset)])
  }

  @Test("buffers whose timestamps are not trusted follow each other")
  func ignoredTimestamps() throws {
    let buffers = [0, 9, 2].map { DecodedAudio(stamp: ClockTime(seconds: $0), count: 480) }
    var layout = AudioLayout(rate: 48000, segment: Segment())
    layout.ignoresTimestamps = true
    #expect(try layout.place(buffers).chunks == [AudioChunk(position: 0, count: 1440, offset: 0)])
  }
}
