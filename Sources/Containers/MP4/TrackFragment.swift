/// Part of a movie fragment that belongs to one track (`traf`, ISO/IEC 14496-12, 8.8.6).
///
/// All offsets are in the body of the `moof` box.
struct TrackFragment {
  /// Identifier of the track.
  let track: Int
  /// Default duration of an MP4 sample; nil if the fragment declares none.
  let sampleDuration: Int?
  /// Offset of the default flags of MP4 samples; nil if the fragment declares none.
  private let sampleFlags: Int?
  /// Range of the decoding start (`tfdt`); nil if not declared.
  private let startField: Range<Int>?
  let runs: [TrackRun]

  /// Maximum time in any timescale; a larger value is treated as damage.
  static let longest = 1 << 56

  /// Reads all parts of a fragment.
  /// - Parameter fragment: body of the `moof` box.
  static func all(in fragment: [UInt8]) -> [TrackFragment] {
    Box.all(in: fragment[...]).filter { $0.type == "traf" }.compactMap { TrackFragment($0.body, of: fragment) }
  }

  private init?(_ body: Range<Int>, of fragment: [UInt8]) {
    guard let header = fragment.box("tfhd", in: body), header.count >= 8 else { return nil }
    let flags = fragment.integer(header.lowerBound) & 0xFF_FFFF
    track = fragment.integer(header.lowerBound + 4)
    // Fields before the defaults: the base of the data offsets, and the sample description.
    let defaults = header.lowerBound + 8 + (flags & 1 != 0 ? 8 : 0) + (flags & 2 != 0 ? 4 : 0)
    sampleDuration = flags & 8 != 0 && defaults + 4 <= header.upperBound ? fragment.integer(defaults) : nil
    let last = defaults + (flags & 8 != 0 ? 4 : 0) + (flags & 0x10 != 0 ? 4 : 0)
    sampleFlags = flags & 0x20 != 0 && last + 4 <= header.upperBound ? last : nil
    startField = fragment.box("tfdt", in: body).flatMap { time in
      guard time.count >= 8 else { return nil }
      let field = time.lowerBound + 4..<time.lowerBound + (fragment[time.lowerBound] == 1 ? 12 : 8)
      return field.upperBound <= time.upperBound ? field : nil
    }
    runs = Box.all(in: fragment[body]).compactMap { TrackRun($0, of: fragment) }
  }

  /// Decoding start; nil if not declared, or damaged.
  func start(_ fragment: [UInt8]) -> Int? {
    guard let startField else { return nil }
    let value = fragment.number(startField)
    return value < TrackFragment.longest ? value : nil
  }

  /// Delays the presentation of all MP4 samples.
  /// - Parameters:
  ///   - delay: delay in the track's timescale.
  ///   - mayStartLater: true if the fragment may be decoded later, too.
  /// - Returns: false if the fragment has no fields for the delay.
  func delay(by delay: Int, in fragment: inout [UInt8], mayStartLater: Bool) -> Bool {
    let runs = runs.filter { $0.count > 0 }
    if runs.allSatisfy(\.hasOffsets) {
      for run in runs {
        for sample in 0..<run.count {
          let offset = run.offset(sample, fragment) + delay
          guard offset <= Int(Int32.max) else { return false }
          fragment.set(offset, at: run.offsetField(sample))
        }
      }
      return true
    }
    if runs.count == 1, let sampleFlags, runs[0].storesOnlyFlags {
      // Move the sample's flags to the defaults, and store a composition offset in their place.
      fragment.set(fragment.integer(runs[0].first - 4), at: sampleFlags)
      fragment.set(delay, at: runs[0].first - 4)
      let flags = fragment.integer(runs[0].body.lowerBound)
      fragment.set(flags & ~TrackRun.firstFlags | TrackRun.offsets, at: runs[0].body.lowerBound)
      return true
    }
    guard mayStartLater, !runs.contains(where: \.hasOffsets), let startField, let start = start(fragment),
      startField.count == 8 || start + delay <= 0xFFFF_FFFF
    else { return false }
    fragment.replaceSubrange(startField, with: [UInt8].big(UInt64(start + delay)).suffix(startField.count))
    return true
  }
}

/// Run of MP4 samples in a fragment (`trun`, ISO/IEC 14496-12, 8.8.8).
struct TrackRun {
  let body: Range<Int>
  private let flags: Int
  /// Number of MP4 samples that the run declares.
  let declared: Int
  /// Number of readable MP4 samples: the declared number, limited to the samples that fit in the
  /// box. If the box has no fields for each sample, the limit is ``most``.
  let count: Int
  /// Offset of the fields of the first MP4 sample.
  let first: Int
  /// Number of bytes that describe each MP4 sample.
  private let width: Int

  /// Flags that declare which fields are present: flags of the first sample; durations, sizes,
  /// flags and composition offsets of all samples.
  static let (firstFlags, durations, sizes, sampleFlags, offsets) = (0x4, 0x100, 0x200, 0x400, 0x800)

  /// Maximum number of MP4 samples that qtdemux accepts in a run without fields for each sample
  /// (`QTDEMUX_MAX_SAMPLE_INDEX_SIZE`).
  private static let most = (200 << 20) / 32

  /// - Returns: nil if `box` is not a run.
  init?(_ box: Box, of fragment: [UInt8]) {
    guard box.type == "trun", box.body.count >= 8 else { return nil }
    let flags = fragment.integer(box.body.lowerBound) & 0xFF_FFFF
    let fields = [TrackRun.durations, TrackRun.sizes, TrackRun.sampleFlags, TrackRun.offsets]
    let width = fields.count { flags & $0 != 0 } * 4
    let first =
      box.body.lowerBound + 8 + (flags & 1 != 0 ? 4 : 0) + (flags & TrackRun.firstFlags != 0 ? 4 : 0)
    body = box.body
    declared = fragment.integer(box.body.lowerBound + 4)
    count = min(declared, width > 0 ? max(box.body.upperBound - first, 0) / width : TrackRun.most)
    (self.flags, self.width, self.first) = (flags, width, first)
  }

  /// True if each MP4 sample has a composition offset.
  var hasOffsets: Bool { flags & TrackRun.offsets != 0 }

  /// True if the run has one MP4 sample, of which only the flags are stored.
  var storesOnlyFlags: Bool {
    declared == 1 && width == 0 && flags & TrackRun.firstFlags != 0 && first <= body.upperBound
  }

  /// Offset of the field for the composition offset of an MP4 sample.
  func offsetField(_ sample: Int) -> Int { first + (sample + 1) * width - 4 }

  /// Time from decoding to presentation of an MP4 sample; 0 if not stored. As in qtdemux, the value
  /// is signed in all versions of the box.
  func offset(_ sample: Int, _ fragment: [UInt8]) -> Int {
    hasOffsets ? Int.compositionOffset(fragment.integer(offsetField(sample))) : 0
  }

  /// Duration of an MP4 sample.
  /// - Parameter usual: duration if the run stores none.
  func duration(_ sample: Int, usual: Int, _ fragment: [UInt8]) -> Int {
    flags & TrackRun.durations == 0 ? usual : fragment.integer(first + sample * width)
  }

  /// Total duration of the MP4 samples.
  func length(usual: Int, _ fragment: [UInt8]) -> Int {
    if flags & TrackRun.durations == 0 { return count * usual }
    return (0..<count).reduce(0) { $0 + duration($1, usual: usual, fragment) }
  }
}

extension Int {
  /// Interprets the field of a composition offset. The lowest number marks a sample that is not
  /// decoded (8.6.1.3); qtdemux takes it for 0.
  static func compositionOffset(_ field: Int) -> Int {
    let offset = Int32(truncatingIfNeeded: field)
    return offset == .min ? 0 : Int(offset)
  }
}
