import GStreamer
import MediaTime
import RetrogradeEngine

/// Compares the frames of a mirror (a reversed file), one by one, with the expected frames: the
/// source's video in the order of play.
struct FrameComparison {
  /// Smallest accepted likeness (PSNR of the ``Thumbnail``s, in dB) of a lossy frame to its source
  /// frame.
  static let leastLikeness = 28.0

  var expected = 0
  var found = 0
  /// Number of frames that equal their source frames in every pixel.
  var identical = 0
  /// Pixel formats of the source and the mirror, if frames were converted to compare every pixel;
  /// otherwise nil. `isRounded` is true for a conversion between RGB and YUV.
  private(set) var conversion: (source: String, mirror: String, isRounded: Bool)?
  /// Smallest likeness (PSNR of the thumbnails, in dB) of a frame to its source frame, and the
  /// number of that frame.
  var worst = (likeness: 99.0, frame: 0)
  /// Numbers of the frames that show a neighbour of the expected source frame instead of that
  /// frame.
  var misplaced: [Int] = []
  /// Comparison of blocks of pixels, for the frames that are not identical to their source frames.
  var picture = PictureComparison()
  /// True if a frame of a lossless codec differs from its source frame, although size and pixel
  /// format are the same. In a correct mirror, this happens only if the frames were converted to
  /// another format and back.
  private(set) var isUnconverted = false
  /// Check of the source's frames against a plain decode (``PlainFrames``); nil if there was no
  /// plain decode.
  var sourceFrames: SourceFrameCheck?
  /// Times of the mirror's frames.
  private(set) var times = FrameTimes()

  /// Compares all frames.
  /// - Parameters:
  ///   - source: player of the expected frames.
  ///   - mirror: player of the actual frames.
  ///   - orientations: GST_TAG_IMAGE_ORIENTATION of both files.
  ///   - geometry: intended crop, rotation and scaling of the source's frames; nil: none.
  ///   - isForRGB: true if the mirror is RGB, but the source is not. Colours of the source that RGB
  ///     can't represent are then clipped before the comparison.
  ///   - isTransparent: true if the source's frames have transparency.
  ///   - comparesSeen: true to ignore the colours of fully transparent pixels. Then both files'
  ///     frames must have transparency.
  ///   - roundsAlpha: true if each pixel of the mirror is either transparent or opaque (GIF).
  ///   - isHalved: true if the mirror's codec (WebP) subsampled the chroma, although its decoder
  ///     outputs RGB.
  ///   - comparesPixels: true to compare every pixel even if the formats differ; the source's
  ///     frames are then converted.
  ///   - isInLosslessCodec: true if the mirror's codec keeps every pixel.
  ///   - plain: source's frames from a plain decode (forwards, without seeking); nil: do not check
  ///     the source's frames.
  ///   - clock: times that the mirror's format can store; nil: any times.
  init(
    _ source: VideoPlayer, _ mirror: VideoPlayer, orientations: (source: String?, mirror: String?),
    geometry: FrameGeometry?, isForRGB: Bool, isTransparent: Bool,
    comparesSeen: Bool, roundsAlpha: Bool, isHalved: Bool,
    comparesPixels: Bool, isInLosslessCodec: Bool, plain: PlainFrames?, clock: AnimationClock?,
    _ cancellation: Cancellation,
    report: (ClockTime) -> Void
  ) throws {
    sourceFrames = plain.map { SourceFrameCheck($0) }
    var squares: SquaredFrames?
    let preparation = geometry?.elements ?? []
    let ownOrientation = geometry.map(\.orientation) ?? orientations.source
    let clip =
      isForRGB
      ? ["videoconvert dither=none", "capsfilter caps=video/x-raw,format=\(isTransparent ? "BGRA" : "BGRx")"] : []
    var wanted = try ThumbnailedFrames(
      source, preparation + clip, prepared: geometry?.caps, orientation: ownOrientation, comparesSeen: comparesSeen,
      cancellation)
    var given = try ThumbnailedFrames(
      mirror, orientation: orientations.mirror, comparesSeen: comparesSeen, cancellation)
    // If the mirror's frames were written rotated, rotate the source's frames too.
    let turn = ownOrientation == orientations.mirror ? nil : ownOrientation
    var converter: FrameConverter?
    var clock = clock
    var stored = FrameTimes()
    // Hashes of the source frames before the current one, for a lossless codec.
    var earlier: [UInt64] = []
    while let frame = try given.next() {
      found += 1
      guard let own = try wanted.next() else { continue }
      expected += 1
      if expected % 8 == 0 { report(own.shown.end) }
      let number = expected - 1
      let isHashed = isInLosslessCodec || sourceFrames != nil && own.number != nil
      let hash = isHashed ? try own.buffer.pixelHash(own.caps) : nil
      defer { earlier = Array((earlier + [hash].compactMap { $0 }).suffix(ThumbnailedFrames.reach)) }
      if let place = own.number, let hash { sourceFrames?.add(hash, number: place) }
      times.add(frame.shown.start, for: frame.duration, expected: own.shown)
      if let expected = clock?.place(own.shown) {
        stored.add(frame.shown.start, for: frame.duration, expected: expected)
      }
      // An encoder for GIF makes partly transparent pixels opaque, or transparent if their alpha is
      // below 128.
      let expectedThumbnail =
        comparesSeen && roundsAlpha
        ? try wanted.thumbnail(of: own, roundedLike: given.picture(of: frame).buffer) : own.thumbnail
      let likeness = frame.thumbnail.likeness(to: expectedThumbnail)
      if likeness < worst.likeness { worst = (likeness, number) }
      if wanted.neighbours.contains(where: { frame.thumbnail.shows($0, insteadOf: expectedThumbnail) }) {
        misplaced.append(number)
      }
      if turn == nil, preparation.isEmpty, own.caps.isSameForm(as: frame.caps) {
        // A lossy codec with fixed colours may change the range, so that the same levels are other
        // colours.
        let hasSameLevels = isInLosslessCodec || own.caps.isFullRangeYUV == frame.caps.isFullRangeYUV
        if try hasSameLevels && own.buffer.hasSamePixels(as: frame.buffer, frame.caps) {
          identical += 1
          continue
        }
        isUnconverted = isInLosslessCodec
        // In a nearly still scene, only the pixels distinguish a frame from its neighbours.
        if isInLosslessCodec, misplaced.last != number,
          try (earlier + wanted.laterHashes()).contains(frame.buffer.pixelHash(frame.caps))
        {
          misplaced.append(number)
        }
      } else if comparesPixels {
        let known =
          try converter
          ?? FrameConverter(own.caps, preparation, orientation: turn, to: frame.caps.pixelForm, cancellation)
        converter = known
        let formats = (own.caps.string("format") ?? "", frame.caps.string("format") ?? "")
        if formats.0 != formats.1 {
          conversion = (formats.0, formats.1, own.caps.isRGB != frame.caps.isRGB)
        }
        if try known.convert(own.buffer, own.caps).hasSamePixels(as: frame.buffer, frame.caps) {
          identical += 1
          continue
        }
      }
      let pictures = try (own: wanted.picture(of: own), other: given.picture(of: frame))
      let known =
        try squares
        ?? SquaredFrames(
          (pictures.own.caps, pictures.own.preparation, pictures.own.orientation),
          (pictures.other.caps, pictures.other.orientation), isHalved: isHalved, cancellation)
      squares = known
      picture.isRGB = known.isRGB
      picture.add(
        try known.own(pictures.own.buffer, pictures.own.caps),
        try known.other(pictures.other.buffer, pictures.other.caps), frame: number)
    }
    while try wanted.next() != nil { expected += 1 }
    // Accept the source's times even if the format's limits would change them: GIF can store delays
    // that most players don't respect. ``FrameTimes`` allows the first frame another start, so it
    // does not notice a long first frame that was shortened.
    if clock != nil, stored.deviation <= times.deviation { times = stored }
  }

  /// Median delay of all frames relative to their expected times. It is above 0 if priming of an
  /// audio codec delays all streams.
  var delay: ClockTime { times.delay }
}

/// Compares the times of a mirror's frames with the expected times.
struct FrameTimes {
  /// Delay of each frame of the mirror relative to its expected time.
  private var delays: [ClockTime] = []
  /// Tolerance for the start of the first frame: the frame's own duration. In a reversal, this
  /// frame is the source's last one. If it outlasts the source's other streams, the mirror may show
  /// it later than expected.
  private var firstSlack = ClockTime.zero
  /// Durations of the last compared frame, in the mirror and as expected.
  private(set) var lastDuration = (found: ClockTime.zero, expected: ClockTime.zero)

  /// Adds a frame of the mirror.
  mutating func add(_ start: ClockTime, for duration: ClockTime, expected: TimeSpan) {
    if delays.isEmpty { firstSlack = expected.duration }
    delays.append(start - expected.start)
    lastDuration = (duration, expected.duration)
  }

  /// Median of the frames' delays.
  var delay: ClockTime {
    let sorted = delays.sorted()
    return sorted.isEmpty ? .zero : sorted[sorted.count / 2]
  }

  /// Largest error of a start, or the error of the last duration if that is larger.
  var deviation: ClockTime {
    let last = lastDuration.found - lastDuration.expected
    return max(largestError.error, last, ClockTime.zero - last)
  }

  /// Largest deviation of a frame's start from its expected time, apart from the common ``delay``;
  /// and the number of that frame.
  var largestError: (error: ClockTime, frame: Int) {
    let delay = delay
    var worst = (error: ClockTime.zero, frame: 0)
    for (number, own) in delays.enumerated() {
      var error = own - delay
      // The first frame may start late by up to its own duration, without effect on the other
      // frames.
      if number == 0, error > .zero { error = max(.zero, error - firstSlack) }
      error = error < .zero ? .zero - error : error
      if error > worst.error { worst = (error, number) }
    }
    return worst
  }
}

/// Frames from a player, with thumbnails of each frame and of its neighbours.
private struct ThumbnailedFrames {
  struct Frame {
    var buffer: Buffer
    var caps: Caps
    var shown: TimeSpan
    /// Duration of the frame in its own file. `shown` may be longer, because the last frame stays
    /// on screen if the video ends before the file.
    var duration: ClockTime
    var number: Int?
    var thumbnail: Thumbnail
  }

  /// A frame for the comparison of blocks of pixels, and the conversion that makes it upright.
  typealias Picture = (buffer: Buffer, caps: Caps, preparation: [String], orientation: String?)

  private let player: VideoPlayer
  private let preparation: [String]
  private let prepared: Caps?
  private let orientation: String?
  private let comparesSeen: Bool
  private let cancellation: Cancellation
  private var converter: FrameConverter?
  private var seen: SeenFrames?
  private var ahead: [Frame] = []
  private var behind: [Thumbnail] = []
  private var current: Thumbnail?
  /// Number of neighbours before each frame, and after it.
  static let reach = 2

  /// - Parameters:
  ///   - prepared: caps of the frames after `preparation`; nil if it does not change their size.
  ///   - comparesSeen: true to compare the colours that are seen (``SeenFrames``).
  init(
    _ player: VideoPlayer, _ preparation: [String] = [], prepared: Caps? = nil, orientation: String?,
    comparesSeen: Bool, _ cancellation: Cancellation
  ) throws {
    self.player = player
    self.preparation = preparation
    self.prepared = prepared
    self.orientation = orientation
    self.comparesSeen = comparesSeen
    self.cancellation = cancellation
  }

  /// Thumbnails of the neighbours of the frame that ``next()`` returned last.
  var neighbours: [Thumbnail] { behind + ahead.map(\.thumbnail) }

  /// Returns hashes of the pixels of the neighbours after the frame that ``next()`` returned last.
  func laterHashes() throws -> [UInt64] { try ahead.map { try $0.buffer.pixelHash($0.caps) } }

  /// Returns the frame for the comparison of blocks of pixels.
  func picture(of frame: Frame) throws -> Picture {
    guard let seen else { return (frame.buffer, frame.caps, preparation, orientation) }
    return (try seen.convert(frame.buffer, frame.caps), seen.caps, [], nil)
  }

  /// Returns the frame's thumbnail after each partly transparent pixel got the alpha of `other`,
  /// a ``picture(of:)`` of the other file.
  func thumbnail(of frame: Frame, roundedLike other: Buffer) throws -> Thumbnail {
    try seen?.thumbnail(frame.buffer, frame.caps, roundedLike: other) ?? frame.thumbnail
  }

  mutating func next() throws -> Frame? {
    while ahead.count <= ThumbnailedFrames.reach, let frame = try read() { ahead.append(frame) }
    if let current {
      behind.append(current)
      if behind.count > ThumbnailedFrames.reach { behind.removeFirst() }
    }
    guard !ahead.isEmpty else { return nil }
    let frame = ahead.removeFirst()
    current = frame.thumbnail
    return frame
  }

  private mutating func read() throws -> Frame? {
    guard let frame = try player.next() else { return nil }
    return Frame(
      buffer: frame.buffer, caps: frame.caps, shown: frame.shown, duration: frame.source.duration, number: frame.number,
      thumbnail: try thumbnail(frame.buffer, frame.caps))
  }

  private mutating func thumbnail(_ frame: Buffer, _ caps: Caps) throws -> Thumbnail {
    if comparesSeen {
      let known =
        try seen
        ?? SeenFrames(
          caps, preparation, orientation: orientation, size: (prepared ?? caps).uprightSize(orientation), cancellation)
      seen = known
      return try known.thumbnail(frame, caps)
    }
    let known =
      try converter
      ?? FrameConverter(
        caps.withRange, preparation + (caps.isInterlaced ? [Caps.withoutFields] : []), orientation: orientation,
        to: Thumbnail.form(of: caps), cancellation)
    converter = known
    return try Thumbnail(known.convert(frame, caps.withRange), of: caps)
  }
}

/// Computes the means of blocks of pixels in the frames of a source and its mirror. Both files'
/// frames are first rotated upright, and converted to the same format.
private struct SquaredFrames {
  private let converters: (own: FrameConverter, other: FrameConverter)
  private let form: Caps
  let isRGB: Bool
  /// Colorimetry for WebP: libwebp converts RGB to 4:2:0 with BT.601, and back to RGB.
  private static let coloursInWebP = "bt601"

  init(
    _ own: (caps: Caps, preparation: [String], orientation: String?), _ other: (caps: Caps, orientation: String?),
    isHalved: Bool, _ cancellation: Cancellation
  ) throws {
    let size = other.caps.uprightSize(other.orientation)
    // Compare in the mirror's colorimetry, in which the mirror's encoder received the frames.
    // Converting the mirror's subsampled chroma again could exceed the range of YUV.
    let colours =
      !other.caps.isRGB ? other.caps.withRange.string("colorimetry") : isHalved ? SquaredFrames.coloursInWebP : nil
    let isTransparent = other.caps.hasAlpha
    let format =
      colours.map { "\(isTransparent ? "A420" : "I420"),colorimetry=(string)\($0)" } ?? (isTransparent ? "GBRA" : "GBR")
    let text =
      "video/x-raw,format=\(format),width=\(size.width),height=\(size.height),pixel-aspect-ratio=1/1"
    guard let form = Caps(text) else {
      throw GStreamerError(kind: .other, element: nil, message: "frames can't be compared", debug: nil)
    }
    self.form = form
    isRGB = colours == nil
    // Encoding to JPEG (full range) or Theora (limited range) converts the frames, so convert the
    // source's frames in the same way.
    let isFull = colours?.hasPrefix("1:") ?? false
    let jpeg = isFull ? JPEGFrames(own.caps, width: own.caps.int("width")) : nil
    let theora = colours?.hasPrefix("2:4:5:0") ?? false ? TheoraFrames(own.caps, format: nil) : nil
    let converted = jpeg?.preparation ?? theora?.preparation ?? []
    let named = (jpeg?.colours ?? theora?.colours).map { ["capssetter caps=\(Description.quoted($0))"] } ?? []
    // If only the mirror lacks the interlace flag, its encoder still got flagged frames. So the
    // flag is removed after the preparation.
    let whole = own.caps.isInterlaced && !other.caps.isInterlaced ? [Caps.withoutFields] : []
    converters = (
      try FrameConverter(
        own.caps.withRange, named + own.preparation + whole + converted, orientation: own.orientation, to: text,
        cancellation),
      try FrameConverter(other.caps.withRange, orientation: other.orientation, to: text, cancellation)
    )
  }

  func own(_ frame: Buffer, _ caps: Caps) throws -> [PlaneMeans] {
    try converters.own.convert(frame, caps.withRange).blockMeans(form)
  }

  func other(_ frame: Buffer, _ caps: Caps) throws -> [PlaneMeans] {
    try converters.other.convert(frame, caps.withRange).blockMeans(form)
  }
}

extension Caps {
  /// Caps with only the frame's size and pixel format.
  fileprivate var pixelForm: String {
    "video/x-raw,format=\(string("format") ?? "I420"),width=\(int("width") ?? 0),height=\(int("height") ?? 0)"
  }

  fileprivate func isSameForm(as other: Caps) -> Bool { pixelForm == other.pixelForm }

  /// Returns the size of frames after rotation to upright.
  /// - Parameter orientation: GST_TAG_IMAGE_ORIENTATION of the frames.
  fileprivate func uprightSize(_ orientation: String?) -> (width: Int, height: Int) {
    let size = (width: int("width") ?? 0, height: int("height") ?? 0)
    guard let orientation, orientation.hasSuffix("90") || orientation.hasSuffix("270") else { return size }
    return (size.height, size.width)
  }

  /// Element that removes the interlace flag. GStreamer scales frames with the flag field by field,
  /// so that they would differ from the same frames in a file that can't store the flag.
  fileprivate static let withoutFields = "capssetter caps=video/x-raw,interlace-mode=progressive"
}
