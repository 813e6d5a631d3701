import GStreamer
import Glibc

/// Greyscale image of a frame at low resolution, with alpha if transparent frames are compared.
/// Lossy coding hardly changes it, but different frames have different thumbnails.
struct Thumbnail {
  static let (width, height) = (160, 96)

  /// Full-range levels, 0 to 255; then alpha, if transparent frames are compared.
  let pixels: [UInt8]

  /// - Parameter converted: frame that was converted to the caps ``form(of:)``.
  init(_ converted: Buffer, of caps: Caps) throws {
    pixels = try converted.withBytes {
      let pixels = $0.prefix(Thumbnail.width * Thumbnail.height)
      return caps.isFullRangeYUV ? Array(pixels) : pixels.map { Thumbnail.fullLevels[Int($0)] }
    }
  }

  /// Returns the caps to which frames are converted. The range of YUV (full or limited) is not
  /// converted, because `videoconvert` may skip that (`Quirk.videoconvertRange`).
  static func form(of caps: Caps) -> String {
    "video/x-raw,format=GRAY8,width=\(width),height=\(height),pixel-aspect-ratio=1/1,"
      + "colorimetry=\(caps.isFullRangeYUV ? 1 : 2):4:0:0"
  }

  /// - Parameter seen: frame of ``SeenFrames`` that was converted to the caps ``seenForm``.
  init(seen: Buffer) throws {
    pixels = try seen.withBytes { bytes in
      let places = stride(from: 0, to: min(bytes.count, 4 * Thumbnail.width * Thumbnail.height) - 3, by: 4)
      return places.map { Thumbnail.fullLevels[Int(bytes[$0 + 1])] } + places.map { bytes[$0] }
    }
  }

  /// Caps to which frames of ``SeenFrames`` are converted: alpha, brightness and colour.
  static let seenForm =
    "video/x-raw,format=AYUV,width=\(width),height=\(height),pixel-aspect-ratio=1/1,colorimetry=2:4:0:0"

  /// Table from limited-range levels (16 to 235) to full-range levels (0 to 255).
  private static let fullLevels = (0...255).map { UInt8(clamping: (($0 - 16) * 255 + 109) / 219) }

  init(pixels: [UInt8]) { self.pixels = pixels }

  /// Returns the peak signal-to-noise ratio between two thumbnails, in dB; 99 if they are equal.
  func likeness(to other: Thumbnail) -> Double { likeness(distance: distance(to: other)) }

  /// True if this thumbnail of a mirror's frame shows `neighbour` instead of the expected source
  /// frame.
  ///
  /// If a scene changes little, codecs repeat parts of the previous frame. In a nearly still scene,
  /// a frame therefore counts as the neighbour only if it shows nearly all of the change from the
  /// expected frame to the neighbour.
  /// - Parameter own: thumbnail of the expected source frame.
  func shows(_ neighbour: Thumbnail, insteadOf own: Thumbnail) -> Bool {
    let (change, error) = (own.distance(to: neighbour), distance(to: own))
    let left = distance(to: neighbour)
    let likeness = likeness(distance: change)
    guard likeness < Thumbnail.same, self.likeness(distance: left) > self.likeness(distance: error) + 0.5 else {
      return false
    }
    // Projection of the error onto the change to the neighbour: 0 is the expected frame, 1 is the
    // neighbour.
    return likeness < Thumbnail.nearlySame || Double(error + change - left) > 2 * Thumbnail.leastChange * Double(change)
  }

  /// Likeness in dB above which frames can't be distinguished.
  private static let same = 45.0
  /// Likeness in dB above which a frame and its neighbour are nearly the same; and the share of the
  /// change to the neighbour that a frame must then show to count as the neighbour.
  private static let (nearlySame, leastChange) = (36.0, 0.85)

  /// Returns the sum of squared differences of the pixels.
  private func distance(to other: Thumbnail) -> Int {
    var sum = 0
    for (a, b) in zip(pixels, other.pixels) {
      let difference = Int(a) - Int(b)
      sum += difference * difference
    }
    return sum
  }

  private func likeness(distance: Int) -> Double {
    guard distance > 0, !pixels.isEmpty else { return 99 }
    // Errors in alpha add to errors in brightness: opaque frames have the same likeness with alpha.
    let count = min(pixels.count, Thumbnail.width * Thumbnail.height)
    return 10 * log10(255 * 255 * Double(count) / Double(distance))
  }
}

extension Caps {
  /// True for YUV and grey frames of full range.
  var isFullRangeYUV: Bool { !isRGB && withRange.string("colorimetry")?.hasPrefix("1:") ?? false }
}
