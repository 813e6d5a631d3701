import GStreamer
import MediaTime
import Synchronization

/// Converts the frames of a video to the format of its first frame, because an output stream can
/// have only one format. Records the frames in other formats, and the names of these formats. Also
/// records whether frames have captions, because reversed output can't keep captions.
///
/// All decoders of a video share one instance, so a frame that is decoded twice counts once.
final class FormatChanges: Sendable {
  private enum Kind: CaseIterable {
    /// Size or pixel format: scaled and converted.
    case form
    /// Range or matrix of the colours: converted.
    case colour
    /// Primaries or transfer function of the colours, or an unknown range or matrix: not converted.
    case meaning
    /// Pixel aspect ratio: not converted.
    case pixelShape
  }

  private struct Change {
    /// Display times of the changed frames, in stream time.
    var times: Set<ClockTime> = []
    /// Names of the changed frames' formats, which differ from `first`.
    var names: [String] = []
    let first: String

    init(first: String) { self.first = first }

    mutating func note(_ time: ClockTime?, _ name: String) {
      if let time { times.insert(time) }
      guard !names.contains(name) else { return }
      names.append(name)
      Log.decode.info("the video changes from \(first) to \(name) at \(time.map(\.description) ?? "an unknown time")")
    }
  }

  private let changes = Mutex<[Kind: Change]>([:])
  private let hasCaptions = Atomic(false)

  /// Converts a frame to `first`, the caps of the video's first frame.
  /// - Throws: ``GStreamerError`` if the frame can't be converted.
  func fit(_ sample: Sample, to first: Caps) throws -> Sample {
    guard let caps = sample.caps, !caps.isEqual(first) else { return sample }
    if caps.formName != first.formName {
      note(.form, sample, caps.formName, first.formName)
    } else {
      if caps.string("colorimetry") != first.string("colorimetry") {
        note(
          caps.differsInMatrix(from: first) ? .colour : .meaning, sample, caps.colourName, first.colourName)
      }
      if caps.pixelShape != first.pixelShape { note(.pixelShape, sample, caps.pixelShape, first.pixelShape) }
    }
    return try sample.fitted(to: first) ?? sample
  }

  private func note(_ kind: Kind, _ sample: Sample, _ name: String, _ first: String) {
    // Modify the set in place: copying the set for each frame would be slow.
    changes.withLock { $0[kind, default: Change(first: first)].note(sample.streamTime, name) }
  }

  /// Records captions. Every frame is examined, because the first frame may lack captions:
  /// h264parse drops captions in the first packet of a transport stream.
  func noteDetails(of sample: Sample) {
    if sample.buffer.hasCaptions { hasCaptions.store(true, ordering: .relaxed) }
  }

  /// Removes all recorded changes. Call this before the same packets are decoded again: after a
  /// seek, packets of transport streams have other times, so the same change would count twice.
  func forget() { changes.withLock { $0 = [:] } }

  /// Warnings about the frames so far.
  var warnings: [Warning] {
    let changed = changes.withLock { changes in
      Kind.allCases.compactMap { kind in changes[kind].map { FormatChanges.warning(kind, $0) } }
    }
    guard hasCaptions.load(ordering: .relaxed) else { return changed }
    return changed + [
      Warning(.detailLeftOut, "left out: the captions in the video (CEA-608/708), in all reversed parts")
    ]
  }

  private static func warning(_ kind: Kind, _ change: Change) -> Warning {
    let span = change.times.min().flatMap { start in change.times.max().map { TimeSpan(start: start, end: $0) } }
    let what = "from \(change.first) to \(change.names.joined(separator: " and "))"
    let place = span.map { ", between \($0.start) and \($0.end)" } ?? ""
    let message: Message =
      switch kind {
      case .form:
        "converted: the format of the video changes \(what)\(place); all frames are converted to the first format"
      case .colour:
        "converted: the colour space of the video changes \(what)\(place); all frames are converted to the first one"
      case .meaning:
        "changed: the colour labels of the video change \(what)\(place); the whole output is labelled \(change.first)"
      case .pixelShape:
        "changed: the pixel aspect ratio of the video changes \(what)\(place); the whole output is labelled "
          + "\(change.first)"
      }
    return Warning(.converted, message, count: change.times.count, span: span)
  }
}

extension Caps {
  /// Name of the format, such as `640x480 I420`.
  fileprivate var formName: String { "\(int("width") ?? 0)x\(int("height") ?? 0) \(string("format") ?? "")" }

  fileprivate var colourName: String { string("colorimetry") ?? "unknown" }

  /// Pixel aspect ratio, such as `16:15`.
  fileprivate var pixelShape: String {
    let ratio = fraction("pixel-aspect-ratio") ?? (1, 1)
    return "\(ratio.numerator):\(ratio.denominator)"
  }
}
