import Drawing
import GStreamer
import RetrogradeEngine

extension FrameFit {
  /// Creates the conversion of a video's frames to the size, format and orientation of `first`. The
  /// displayed frame is scaled to fit, with bars if the aspect ratios differ.
  /// - Returns: nil if the frames need no conversion.
  init?(_ video: VideoSource, like first: VideoSource) {
    let (own, wanted) = (video.shownFrame, first.shownFrame)
    let turn = own.turn.then(wanted.turn.inverse)
    let isSameSize = (own.width, own.height, own.aspect) == (wanted.width, wanted.height, wanted.aspect)
    let (caps, target) = (video.caps.withColorimetry, first.caps.withColorimetry)
    let losesFields = FrameFit.losesFields(video, like: first)
    let hasOtherColours = caps.differsInMatrix(from: target)
    let isSameForm = caps.string("format") == target.string("format") && !hasOtherColours
    guard !(isSameSize && isSameForm && turn == .none && !losesFields) else { return nil }
    var elements: [String] = []
    if losesFields { elements += FrameGeometry.deinterlacing }
    if let direction = turn.direction {
      elements += ["videoconvert n-threads=2 dither=none", "videoflip video-direction=\(direction)"]
    }
    let pixel = target.fraction("pixel-aspect-ratio") ?? (1, 1)
    if !isSameSize || turn.isSideways {
      elements += [
        "videoscale method=lanczos n-threads=2 add-borders=\(FrameFit.needsBars(own, wanted, turn))",
        "video/x-raw,width=\(wanted.width),height=\(wanted.height),"
          + "pixel-aspect-ratio=(fraction)\(pixel.numerator)/\(pixel.denominator)",
      ]
    }
    let colours = hasOtherColours ? target.string("colorimetry").map { ",colorimetry=(string)\"\($0)\"" } ?? "" : ""
    self.init(
      elements: elements,
      form:
        "video/x-raw,format=\(target.string("format") ?? "I420"),width=\(wanted.width),height=\(wanted.height)\(colours)"
    )
  }

  /// True if interlaced frames have to be made progressive, because fields can't be scaled or
  /// rotated, or because the first file is progressive or has another field order.
  private static func losesFields(_ video: VideoSource, like first: VideoSource) -> Bool {
    let (own, wanted) = (video.shownFrame, first.shownFrame)
    return video.caps.isInterlaced
      && (!first.caps.isInterlaced || video.isTopFieldFirst != first.isTopFieldFirst
        || (own.width, own.height, own.aspect) != (wanted.width, wanted.height, wanted.aspect)
        || own.turn.then(wanted.turn.inverse) != .none)
  }

  /// True if the aspect ratios differ by more than rounding to whole pixels can cause.
  private static func needsBars(_ own: ShownFrame, _ wanted: ShownFrame, _ turn: FrameOrientation) -> Bool {
    let (from, to) = (own.size, wanted.size)
    guard from.width > 0, from.height > 0 else { return false }
    let scale = min(to.width / from.width, to.height / from.height)
    return to.width - from.width * scale > 1.5 || to.height - from.height * scale > 1.5
  }
}

extension FrameFit {
  /// Returns a warning that describes the conversion.
  static func warning(_ name: String, _ video: VideoSource, like first: VideoSource) -> Warning {
    let (own, wanted) = (video.shownFrame, first.shownFrame)
    func size(_ frame: ShownFrame) -> String {
      "\(Int(frame.size.width.rounded()))x\(Int(frame.size.height.rounded()))"
    }
    var parts: [String] = []
    if size(own) != size(wanted) {
      let bars = needsBars(own, wanted, own.turn.then(wanted.turn.inverse)) ? ", with black bars" : ""
      parts.append("\(size(own)) is now \(size(wanted))\(bars)")
    }
    let (format, other) = (video.caps.string("format") ?? "", first.caps.string("format") ?? "")
    if format != other { parts.append("pixel format \(format) is now \(other)") }
    let (caps, target) = (video.caps.withColorimetry, first.caps.withColorimetry)
    if caps.differsInMatrix(from: target) {
      parts.append("colours \(caps.string("colorimetry") ?? "") are now \(target.string("colorimetry") ?? "")")
    }
    if losesFields(video, like: first) { parts.append("interlaced frames are now progressive") }
    if video.caps.dynamicRange != first.caps.dynamicRange {
      func range(_ video: VideoSource) -> String { video.caps.dynamicRange ?? "standard dynamic range" }
      parts.append("\(range(video)) is labelled as \(range(first)), but not converted")
    }
    if parts.isEmpty { parts.append("its frames are stored like those of the first file") }
    return Warning(
      .converted, "\(name): converted to match the first file: \(parts.joined(separator: "; "))",
      count: video.timeline.count)
  }
}

extension VideoSource {
  fileprivate var shownFrame: ShownFrame { ShownFrame(caps, orientation: video.tags?.string("image-orientation")) }
}
