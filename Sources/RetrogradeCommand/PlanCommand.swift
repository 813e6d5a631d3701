import ArgumentParser
import Retrograde
import RetrogradeEngine

struct PlanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Lists the contents of a file, and the steps in which its video would be read backwards.",
    discussion: """
      Each step is a window: a group of frames that are decoded together. The last window is decoded first.

      EXAMPLES
        retrograde plan holiday.mp4
        retrograde plan video.mkv --memory 64MiB
        retrograde plan video.mkv --score '0..4 x0.5, hold 0.8, 4..0 x2'
        retrograde plan video.mkv --json | jq .plan.windows
      """)

  @OptionGroup var from: InputArgument

  @OptionGroup var source: SourceArguments

  @OptionGroup var score: ScoreArguments

  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    var options = source.options
    score.apply(to: &options.playback)
    try await source.report(from.input, options, asJSON: json, show)
  }

  private func show(_ report: SourceReport) {
    let declared = report.declaredDuration.map { " of \($0.inSeconds)" } ?? ""
    Terminal.print("\(report.input)  \(report.duration.inSeconds)\(declared)")
    for stream in report.streams {
      let noun = stream.kind == .video ? "frame" : stream.kind == .audio ? "sample" : "subtitle"
      Terminal.print(
        "  \(stream.kind.rawValue)  \(([stream.codec] + stream.summary).joined(separator: ", "))  "
          + "\(stream.start.inSeconds) to \(stream.end.inSeconds)  \(counted(stream.count, noun))")
    }
    if score.score != nil {
      for line in TimeLine(report).lines { Terminal.print(line) }
    }
    for turning in report.streams.compactMap(\.turning) { Terminal.print("video      \(turning)") }
    for warning in report.warnings { Terminal.print("  ! \(warning.message.inOptions)") }
    guard let plan = report.plan else { return }
    Terminal.print("keyframes  \(report.keyframes.count)")
    Terminal.print(
      "memory     \(ByteCount(report.memoryBytes)) for decoded frames, of at most \(ByteCount(plan.budget)); "
        + "\(ByteCount(plan.frameBytes)) per frame"
    )
    Terminal.print("spool      \(ByteCount(report.spoolBytes)) in temporary files")
    Terminal.print("decoding   each frame is decoded \(Double(Int(plan.decodingWork * 100)) / 100) times on average")
    if plan.method == .forward {
      Terminal.print("method     decoded once, forwards: seeking in this source is impossible or inexact")
    }
    Terminal.print("windows    \(plan.windows.count); the last one is decoded first")
    for window in plan.windows {
      let spooled = window.spooled > 0 ? ", \(window.spooled) in a temporary file" : ""
      Terminal.print(
        "  frames \(window.frames.lowerBound) to \(window.frames.upperBound - 1): \(window.held) in memory "
          + "(\(ByteCount(window.held * plan.frameBytes)))\(spooled); decoding starts at frame \(window.keyframe)"
      )
    }
  }
}
