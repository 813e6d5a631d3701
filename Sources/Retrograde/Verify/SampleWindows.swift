import Glibc
import MediaTime

/// Compares the samples of a source and its mirror in windows of 50 ms, for each channel
/// separately. This finds differences that the correlation of the complete streams hides.
struct SampleWindows {
  /// Figures of one channel in one window: mean squares of the source's samples (`own`), the
  /// mirror's samples (`other`), and the differences of both. They are sums until the window is
  /// complete.
  private struct Window {
    var own = 0.0
    var other = 0.0
    var difference = 0.0
    /// Mean square, in the source, of the loudest 10 ms that are silent in the mirror; 0 if there
    /// are none.
    var lost = Float32(0)
  }

  /// Findings for all windows.
  struct Finding {
    /// Windows that differ from the source.
    var differing = WindowRange()
    /// Windows that are louder or quieter than the source.
    var louder = WindowRange()
    /// Overall level of the mirror relative to the source, in dB, over all judged windows; nil if
    /// they are too quiet to measure the level.
    var gain: Double?
    /// Number of windows that are too quiet to judge.
    var quiet = 0
    var judged = 0
  }

  /// Number of windows with a property, and the indexes of the first and last such windows.
  struct WindowRange {
    var count = 0
    var first = 0
    var last = 0

    mutating func add(_ window: Int) {
      if count == 0 { first = window }
      last = window
      count += 1
    }
  }

  /// Length of a window in milliseconds.
  static let milliseconds = 50
  /// Number of 10 ms intervals in a window. Each interval is checked for silence.
  private static let parts = 5
  /// Smallest share of its energy that a 10 ms interval must keep; otherwise it counts as silenced.
  /// AAC, MP3, Opus and Vorbis at 24 to 128 kbit/s kept at least 0.28 of the energy of audio below
  /// the cutoff of their low-pass filter. If 20 ms were silenced, at most 0.012 remained in 49 of
  /// 50 cases.
  private static let leastOfPart = 0.05
  /// Index of the first window to check for silence. A stream that is read without its first packet
  /// fades in. In AAC at 8 kHz, the fade takes 128 ms.
  private static let firstWhole = 3
  /// Range of the mirror's energy relative to the source's, outside of which a window of a lossy
  /// codec counts as louder or quieter: 2 dB, and 4 dB in LFE channels. libvorbis makes an LFE
  /// channel up to 2.3 dB louder at 60 to 70 Hz.
  private static let sameLevel = (any: 0.63...1.6, lowFrequency: 0.4...2.5)
  /// Bits of the LFE channels in a channel mask (GST_AUDIO_CHANNEL_POSITION_LFE1 and _LFE2).
  private static let lowFrequencyBits: Set = [3, 9]

  private let channels: Int
  /// Numbers of the low-frequency (LFE) channels.
  private let lowFrequency: Set<Int>
  private let size: Int
  private var current: [Window]
  private var part: [(own: Double, other: Double)]
  private var filled = 0
  private var done: [Window] = []

  /// - Parameter mask: channel mask of the samples; 0 if unknown.
  init(rate: Int, channels: Int, mask: UInt64 = 0) {
    self.channels = max(channels, 1)
    lowFrequency = Set(
      (0..<64).filter { mask >> UInt64($0) & 1 == 1 }.enumerated()
        .filter { SampleWindows.lowFrequencyBits.contains($1) }.map { $0.offset })
    size = max(rate * SampleWindows.milliseconds / 1000, 1)
    current = [Window](repeating: Window(), count: self.channels)
    part = [(own: Double, other: Double)](repeating: (0, 0), count: self.channels)
  }

  /// Adds the next samples of the source and the mirror. Both slices are interleaved and have the
  /// same length.
  mutating func add(_ own: ArraySlice<Float32>, _ other: ArraySlice<Float32>) {
    own.withUnsafeBufferPointer { own in
      other.withUnsafeBufferPointer { other in
        for frame in 0..<min(own.count, other.count) / channels {
          for channel in 0..<channels {
            let (x, y) = (Double(own[frame * channels + channel]), Double(other[frame * channels + channel]))
            current[channel].own += x * x
            current[channel].other += y * y
            current[channel].difference += (x - y) * (x - y)
            part[channel].own += x * x
            part[channel].other += y * y
          }
          filled += 1
          if filled % max(size / SampleWindows.parts, 1) == 0 { closePart() }
          if filled == size { close() }
        }
      }
    }
  }

  /// Ends the comparison, after the last samples. The last window is ignored if it has at most half
  /// the usual length.
  mutating func finish() {
    if filled > size / 2 { close() }
  }

  private mutating func closePart() {
    let scale = 1 / Double(max(size / SampleWindows.parts, 1))
    for channel in 0..<channels {
      if part[channel].other < SampleWindows.leastOfPart * part[channel].own {
        current[channel].lost = max(current[channel].lost, Float32(part[channel].own * scale))
      }
      part[channel] = (0, 0)
    }
  }

  private mutating func close() {
    let scale = 1 / Double(filled)
    done += current.map {
      Window(own: $0.own * scale, other: $0.other * scale, difference: $0.difference * scale, lost: $0.lost)
    }
    current = [Window](repeating: Window(), count: channels)
    part = [(own: Double, other: Double)](repeating: (0, 0), count: channels)
    filled = 0
  }

  /// - Parameter exactness: required exactness of the mirror. Rounding to 16 bits is always
  ///   allowed.
  func finding(_ exactness: AudioComparison.Exactness) -> Finding {
    var finding = Finding()
    var (own, other, product) = (0.0, 0.0, 0.0)
    // Windows at a different level, by their index in `done`; the value is true if the window is
    // already counted in `louder`.
    var suspects: [Int: Bool] = [:]
    let mean = done.reduce(0) { $0 + $1.own } / Double(max(done.count, 1))
    for (place, window) in done.enumerated() {
      let number = place / channels
      if exactness.isExact {
        finding.judged += 1
        if window.difference > max(window.own * 1e-4, 3e-9) { finding.differing.add(number) }
      } else {
        // Don't judge quiet windows: codecs spread loud samples over quiet neighbouring windows,
        // and omit audio that is much quieter than the rest.
        let beside = max(
          place >= channels ? done[place - channels].own : 0,
          place + channels < done.count ? done[place + channels].own : 0)
        let loudness = max(window.own, window.other)
        guard loudness > max(1e-7, mean * 1e-2, beside * 1e-2) else {
          finding.quiet += 1
          continue
        }
        finding.judged += 1
        let isLow = lowFrequency.contains(place % channels)
        let level = isLow ? SampleWindows.sameLevel.lowFrequency : SampleWindows.sameLevel.any
        let cross = (window.own + window.other - window.difference) / 2
        // Codecs replace quiet noise by other noise of the same level, so allow larger differences
        // in quieter windows. The energy of the difference between unrelated signals of the same
        // level is twice the energy of one signal.
        let most =
          switch loudness / mean {
          case _ where exactness == .modelled: Double.infinity
          case 0.5...: 0.8
          case 0.1...: 1.6
          default: Double.infinity
          }
        if min(window.own, window.other) < 0.1 * loudness || window.difference > most * loudness
          || exactness == .alike && number >= SampleWindows.firstWhole && Double(window.lost) > 0.1 * mean
        {
          finding.differing.add(number)
        } else if exactness == .alike, cross > 0.9 * (window.own * window.other).squareRoot(),
          !level.contains(window.other / window.own)
        {
          // Codecs spread the start of a note over time, so a different level counts only in two
          // consecutive windows.
          if let isCounted = suspects[place - channels] {
            if !isCounted { finding.louder.add(number - 1) }
            finding.louder.add(number)
          }
          suspects[place] = suspects[place - channels] != nil
        }
      }
      own += window.own
      other += window.other
      product += (window.own + window.other - window.difference) / 2
    }
    // Don't measure the level of audio below -70 dB, because rounding alone changes that level.
    if own > 1e-7 * Double(finding.judged), other > 0, product > 0 {
      // Use the smaller of two estimates of the gain, because added noise changes only one of them,
      // but a change of level changes both.
      let gains = (10 * log10(other / own), 20 * log10(product / own))
      finding.gain = abs(gains.0) < abs(gains.1) ? gains.0 : gains.1
    }
    return finding
  }

  /// Returns the start time of a window, counted from the first added sample.
  func time(of window: Int) -> ClockTime {
    ClockTime(nanoseconds: Int64(window) * Int64(SampleWindows.milliseconds) * 1_000_000)
  }
}
