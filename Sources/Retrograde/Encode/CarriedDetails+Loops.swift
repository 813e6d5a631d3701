import Containers
import GStreamer
import RetrogradeEngine

extension CarriedDetails {
  /// Comments for the output that mark a loop of game music (`LOOPSTART`, `LOOPLENGTH`, `LOOPEND`),
  /// in sample frames of the output; and a warning if the source's loop comments are left out.
  var loopComments: (played: [String], warnings: [Warning]) {
    guard let track = audio.first, !hasSoundtrack else { return ([], []) }
    let tags = source.index.tags.merging(track.tags)
    let comments = LoopComments(tags?.strings("extended-comment") ?? [])
    guard !comments.names.isEmpty else { return ([], []) }
    if container?.holdsComments ?? false, !isResampled,
      let frames = comments.frames(of: track.frames.upperBound),
      let place = source.legs.places(of: frames, rate: track.rate).first(where: { $0.count == frames.count })
    {
      return (comments.placed(at: place), [])
    }
    let names = comments.names.joined(separator: ", ")
    return (
      [],
      [
        Warning(
          .detailLeftOut, "left out: the loop points of the audio (\(names)), which the output can't hold",
          count: comments.names.count)
      ]
    )
  }
}

extension NamedTag {
  /// True if the tag marks an audio loop.
  var saysLoop: Bool { LoopComments.field(of: name) != nil }
}

/// Loop comments of a file.
private struct LoopComments {
  /// Name, as spelled in the file, and value of each loop comment; a value is nil if it is not a
  /// whole number. The keys are `START`, `LENGTH` and `END`.
  private var fields: [String: (name: String, value: Int?)] = [:]

  init(_ comments: [String]) {
    for comment in comments {
      guard let tag = NamedTag(comment: comment), let field = LoopComments.field(of: tag.name) else { continue }
      fields[field] = (tag.name, Int(tag.text.filter { $0 != " " }))
    }
  }

  /// Returns `START`, `LENGTH` or `END`; nil if a comment of this name has another meaning.
  static func field(of name: String) -> String? {
    let name = name.uppercased().filter { !"_- ".contains($0) }
    return ["START", "LENGTH", "END"].first { name == "LOOP" + $0 }
  }

  var names: [String] { fields.values.map(\.name).sorted() }

  /// Returns the sample frames of the loop, up to but not including `LOOPEND`; nil if the loop is
  /// invalid.
  /// - Parameter end: number of sample frames in the file. The loop ends there if no comment sets
  ///   an end.
  func frames(of end: Int) -> Range<Int>? {
    guard fields.values.allSatisfy({ $0.value != nil }) else { return nil }
    let start = fields["START"]?.value ?? 0
    let length = fields["LENGTH"]?.value
    let last = fields["END"]?.value ?? length.map { start.addingReportingOverflow($0).partialValue } ?? end
    return start >= 0 && start < last && last <= end ? start..<last : nil
  }

  func placed(at place: Range<Int>) -> [String] {
    let start = fields["START"]?.name ?? "LOOPSTART"
    var comments = ["\(start)=\(place.lowerBound)"]
    if let end = fields["END"]?.name { comments.append("\(end)=\(place.upperBound)") }
    // Without `LOOPEND` and `LOOPLENGTH`, the source's loop ends with the audio. The output needs
    // `LOOPLENGTH`, since the output's audio may continue after the loop.
    if fields["END"] == nil || fields["LENGTH"] != nil {
      comments.append("\(fields["LENGTH"]?.name ?? "LOOPLENGTH")=\(place.count)")
    }
    return comments
  }
}
