import ArgumentParser
import Retrograde
import RetrogradeEngine

struct Info: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the contents of a file, and what its reversal would lose in each container.",
    discussion: """
      EXAMPLES
        retrograde info video.mkv
        retrograde info video.mkv --json | jq '.streams[].codec'
      """)

  @OptionGroup var from: InputArgument

  @OptionGroup var source: SourceArguments

  @Flag(help: "Also print the format of each stream as GStreamer caps.")
  var verbose = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    try await source.report(from.input, source.options, asJSON: json, show)
  }

  private func show(_ report: SourceReport) {
    let declared = report.declaredDuration.map { " of \($0.inSeconds)" } ?? ""
    Terminal.print("\(report.input)  \(report.duration.inSeconds)\(declared)")
    for (number, stream) in report.streams.enumerated() { show(stream, report, isFirst: number == 0) }
    if !report.chapters.isEmpty { Terminal.print("chapters") }
    for chapter in report.chapters { show(chapter, depth: 1) }
    if let tags = report.tags {
      let plain = tags.replacing("taglist, ", with: "").replacing(";", with: "").replacing(/\([a-z]+\)/, with: "")
      Terminal.print("tags       \(plain.replacing("\\ ", with: " "))")
    }
    if report.hasCoverArt { Terminal.print("cover art") }
    for warning in report.warnings { Terminal.print("!          \(warning.message.inOptions)") }
    Terminal.print("possible outputs")
    for mirror in report.mirrors {
      Terminal.print(
        "  .\(mirror.container)".padded(to: 11) + mirror.codecs.joined(separator: ", "))
      for loss in mirror.leftOut { Terminal.print("           \(loss.message.inOptions)") }
    }
  }

  private func show(_ stream: SourceReport.Stream, _ report: SourceReport, isFirst: Bool) {
    let names: [StreamKind: String] = [.video: "frame", .audio: "sample", .subtitles: "subtitle"]
    let label = stream.kind.rawValue.padded(to: 11)
    Terminal.print(label + ([stream.codec] + stream.summary).joined(separator: ", "))
    let indent = String(repeating: " ", count: 11)
    Terminal.print(
      "\(indent)\(stream.start.inSeconds) to \(stream.end.inSeconds), "
        + (names[stream.kind].map { counted(stream.count, $0) } ?? "\(stream.count)"))
    if let turning = stream.turning { Terminal.print(indent + turning) }
    if verbose { Terminal.print(indent + stream.format) }
    let facts = [
      stream.language.map { "language \($0)" }, stream.title.map { "“\($0)”" },
      stream.isDefault == true ? "default" : nil, stream.isForced == true ? "forced" : nil,
      stream.orientation.map { "orientation \($0)" }, stream.fieldOrder,
      isFirst && stream.kind == .video
        ? counted(report.keyframes.count, "keyframe") : nil,
    ].compactMap { $0 }
    if !facts.isEmpty { Terminal.print(indent + facts.joined(separator: ", ")) }
  }

  private func show(_ chapter: SourceReport.ChapterReport, depth: Int) {
    let indent = String(repeating: "  ", count: depth)
    Terminal.print("\(indent)\(chapter.start.inSeconds) to \(chapter.end.inSeconds)  \(chapter.title)")
    for child in chapter.chapters { show(child, depth: depth + 1) }
  }
}
