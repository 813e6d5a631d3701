import Foundation
import MediaTime
import TestSupport
import Testing

@testable import Containers

/// Fragmented MP4 written by this project, read box by box.
@Suite struct MP4FragmentTests {
  @Test("a fragment's boxes contain the offset, sizes and durations of its packets")
  func fragmentBoxes() throws {
    let fragment = MP4Fragment(
      number: 3, start: 1 << 33,
      samples: [
        .init(bytes: [1, 2, 3], duration: 100), .init(bytes: [4], duration: 50, isKeyframe: false),
      ])
    let bytes = fragment.bytes
    let boxes = Box.all(in: bytes[...])
    #expect(boxes.map(\.type) == ["styp", "moof", "mdat"])
    let (moof, media) = (boxes[1].body, boxes[2].body)
    #expect(Array(bytes[media]) == [1, 2, 3, 4])
    let number = try #require(bytes.box("mfhd", in: moof))
    #expect(bytes.integer(number.lowerBound + 4) == 3)
    let time = try #require(bytes.box("traf", "tfdt", in: moof))
    #expect(bytes.integer(time.lowerBound + 4) == 2 && bytes.integer(time.lowerBound + 8) == 0)
    let run = try #require(bytes.box("traf", "trun", in: moof))
    let fields = stride(from: run.lowerBound + 4, to: run.upperBound, by: 4).map { bytes.integer($0) }
    // The data offset counts from the first byte of `moof`.
    #expect(fields[0] == 2 && fields[1] == media.lowerBound - (moof.lowerBound - 8))
    #expect(fields[2...] == [100, 3, 0x0200_0000, 50, 1, 0x0101_0000])
    #expect(bytes.count - 4 <= MP4Fragment.overhead(samples: 2))
  }

  @Test("later fragments of a segment have no styp box")
  func laterFragments() {
    let fragment = MP4Fragment(number: 3, start: 90, samples: [.init(bytes: [1, 2, 3], duration: 100)])
    let rest = fragment.bytes(isStart: false)
    #expect(Box.all(in: rest[...]).map(\.type) == ["moof", "mdat"])
    #expect(fragment.bytes.suffix(rest.count) == rest[...])
  }

  @Test("an initialization segment hides the priming with an edit list")
  func initialization() throws {
    let header = MP4Initialization(
      kind: .audio, description: [0, 0, 0, 0, 0, 0, 0, 0], timescale: 48_000, priming: 1024, duration: 96_000,
      language: "deu")
    let bytes = header.bytes
    let boxes = Box.all(in: bytes[...])
    #expect(boxes.map(\.type) == ["ftyp", "moov"])
    let edit = try #require(bytes.box("trak", "edts", "elst", in: boxes[1].body))
    #expect(bytes.integer(edit.lowerBound + 12) == 96_000 && bytes.integer(edit.lowerBound + 20) == 1024)
    let media = try #require(bytes.box("trak", "mdia", "mdhd", in: boxes[1].body))
    #expect(bytes.timescale(media) == 48_000)
    // Language code `deu`, with 5 bits per letter: d = 4, e = 5, u = 21.
    #expect(bytes.integer(media.lowerBound + 20) >> 16 == 4 << 10 | 5 << 5 | 21)
    #expect(bytes.box("mvex", "trex", in: boxes[1].body) != nil)
    #expect(bytes.box("mvhd", in: boxes[1].body)?.count == 100)
    #expect(bytes.box("trak", "tkhd", in: boxes[1].body)?.count == 84)
  }

  @Test("numbers that do not fit their MP4 fields cause no overflow trap")
  func outOfRange() {
    let fragment = MP4Fragment(number: -1, start: -5, samples: [.init(bytes: [], duration: -1)])
    #expect(!fragment.bytes.isEmpty)
    let header = MP4Initialization(
      kind: .video(width: -1, height: 1 << 40), description: [], timescale: .max, duration: .min, language: "Ä")
    #expect(!header.bytes.isEmpty)
  }

  @Test("lengths of damaged fragments do not overflow when added up")
  func lengthsOfDamagedFragments() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("fragments.mp4")
    let header = MP4Initialization(kind: .audio, description: .zeros(8), timescale: 1, duration: 0)
    try Data(header.bytes).write(to: URL(fileURLWithPath: path))
    let file = try #require(RandomAccessFile(path))
    var chain = FragmentChain(try #require(MP4Index(file)))
    // Only the first fragment declares its start. Each fragment has three runs, each of 2³² - 1
    // samples of 2³² - 1 s.
    for number in 1...300 {
      let run = Box.full("trun", .big(UInt32.max))
      let start = number == 1 ? Box.full("tfdt", .big(UInt32(0))) : []
      chain.add(
        Box.full("mfhd", .big(UInt32(number)))
          + Box.bytes(
            "traf", Box.full("tfhd", flags: 8, .big(UInt32(1)), .big(UInt32.max)), start, run, run, run))
    }
    #expect(chain.end == ClockTime(seconds: .infinity))
    #expect(chain.gaps?.start == .zero)
  }
}
