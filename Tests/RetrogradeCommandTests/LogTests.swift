import Foundation
import TestSupport
import Testing

/// Log of the command, enabled by GST_DEBUG.
@Suite struct LogTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Runs the command with GST_DEBUG. The run must succeed.
  /// - Returns: the lines of the log.
  private func log(_ arguments: [String], _ levels: String = "retrograde*:5") throws -> [String] {
    let environment = [
      "GST_DEBUG": levels, "GST_DEBUG_FILE": scratch.path("log"), "GST_DEBUG_NO_COLOR": "1",
    ]
    let result = try Command.run(
      arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
    #expect(result.status == 0, "\(result.errors)")
    return try String(contentsOfFile: scratch.path("log"), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private func has(_ lines: [String], _ category: String, _ words: String) -> Bool {
    lines.contains { $0.contains(" \(category) ") && $0.contains(words) }
  }

  @Test("each stage logs its decisions")
  func decisions() throws {
    try Command.makeClip(scratch.path("a.mp4"))
    let lines = try log([
      "reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--loop", "ping-pong", "--copy-forward", "--memory",
      "1MiB",
    ])
    let expected = [
      ("retrogradejob", "ping-pong, 1 times, with 1.0 MiB of memory"),
      ("retrogradeindex", "stream 0: video, H.264"),
      ("retrogradeindex", "the pass ends: streamsEnded; 2 of 2 streams ended"),
      ("retrogradedecode", "MPEG-4 AAC: decoded by avdec_aac, which GStreamer ranks first"),
      ("retrogradewindow", "is read in windows: 4 windows"),
      ("retrogradewindow", "seeks to 0:00:01.500"),
      ("retrogradeencode", "video in video/x-h264 by x264enc, as in the source"),
      ("retrogradeencode", "leg 0: packets from 0:00:00.000"),
      ("retrogradeencode", "leg 1: frames 0..<59 are encoded by x264enc, and spliced in"),
      ("retrogradewrite", "all is written"),
      ("retrogradewrite", "finishes the header of MP4"),
      ("retrogradewrite", "all is on the disk, and gets its names"),
    ]
    for (category, words) in expected {
      #expect(has(lines, category, words), "\(category): \(words)\n\(lines.joined(separator: "\n"))")
    }
    // Every message is one line, even if its text contains line breaks.
    #expect(lines.allSatisfy { $0.contains(" retrograde") })
  }

  @Test("a fallback logs its reason")
  func fallback() throws {
    let clip = scratch.path("a.webm")
    let options = "-f lavfi -i testsrc=s=64x48:d=2:r=25 -c:v libvpx -g 10 -keyint_min 10 -deadline realtime"
    _ = try FFmpeg.bytes(options.split(separator: " ").map(String.init) + [clip])
    try FFmpeg.loseSecondKeyframe(ofVP8: clip)
    let lines = try log(["plan", clip], "retrograde*:2")
    #expect(has(lines, "retrogradedecode", "decoded once, forwards, since no window of it"), "\(lines)")
    #expect(lines.allSatisfy { $0.contains(" WARN ") }, "\(lines)")
  }
}
