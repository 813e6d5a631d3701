import GStreamer
import MediaTime
import Synchronization

/// Makes the frames of a video fit its first one, as one stream has to be, and notes which were different,
/// and how; also that they come with captions, which no mirror keeps.
///
/// Several decoders of one video share it: frames that they decode twice count once.
final class FormatChanges: Sendable {
  private enum Kind: CaseIterable {
    /// Size or pixel format: scaled and converted.
    case form
    /// Range or matrix of the colours: converted.
    case colour
    /// Primaries or transfer of the colours, or a range or matrix that is not known: left as they are.
    case meaning
    /// The pixel aspect ratio: left as it is.
    case pixelShape
  }

  private struct Change {
    /// When the frames are shown, in stream time.
    var times: Set<ClockTime> = []
    /// Formats of these frames, in words, in place of the first frame's.
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

  /// The frame as `first`, the caps of the video's first frame, has it.
  /// - Throws: ``GStreamerError``, where it can't be converted.
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
    // In place: a copy of the times for each frame would take long.
    changes.withLock { $0[kind, default: Change(first: first)].note(sample.streamTime, name) }
  }

  /// The first frame may be without: h264parse gives the first packet of a transport stream none of its captions.
  func noteDetails(of sample: Sample) {
    if sample.buffer.hasCaptions { hasCaptions.store(true, ordering: .relaxed) }
  }

  /// The packets so far come again, perhaps at other times: transport streams are told other ones after a
  /// seek.
  func forget() { changes.withLock { $0 = [:] } }

  /// Warnings about the frames that came so far.
  var warnings: [Warning] {
    let changed = changes.withLock { changes in
      Kind.allCases.compactMap { kind in changes[kind].map { FormatChanges.warning(kind, $0) } }
    }
    guard hasCaptions.load(ordering: .relaxed) else { return changed }
    return changed + [
      Warning(.detailLeftOut, "left out: the captions in the video (CEA-608/708) where it is reversed")
    ]
  }

  private static func warning(_ kind: Kind, _ change: Change) -> Warning {
    let span = change.times.min().flatMap { start in change.times.max().map { TimeSpan(start: start, end: $0) } }
    let what = "from \(change.first) to \(change.names.joined(separator: " and "))"
    let place = span.map { ", between \($0.start) and \($0.end)" } ?? ""
    let message: Message =
      switch kind {
      case .form: "converted: the video changes \(what)\(place); all of it is converted to the first"
      case .colour: "converted: the video's colours change \(what)\(place); all of them are converted to the first"
      case .meaning:
        "changed: the labels of the video's colours change \(what)\(place); the mirror is labelled \(change.first)"
      case .pixelShape:
        "changed: the shape of the video's pixels changes \(what)\(place); the mirror is labelled \(change.first)"
      }
    return Warning(.converted, message, count: change.times.count, span: span)
  }
}

extension Caps {
  /// Name of the format, such as `640x480, I420`.
  fileprivate var formName: String { "\(int("width") ?? 0)x\(int("height") ?? 0), \(string("format") ?? "")" }

  fileprivate var colourName: String { string("colorimetry") ?? "unknown" }

  /// Pixel aspect ratio, such as `16:15`.
  fileprivate var pixelShape: String {
    let ratio = fraction("pixel-aspect-ratio") ?? (1, 1)
    return "\(ratio.numerator):\(ratio.denominator)"
  }
}
