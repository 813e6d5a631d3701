import Foundation
import GStreamer
import Retrograde
import TestSupport
import Testing

@testable import RetrogradeCommand

/// Presets for `--for`.
@Suite struct PresetTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func write(_ limits: String, _ name: String = "place") throws -> String {
    let path = scratch.path("\(name).gep")
    let text = """
      [GStreamer Encoding Target]
      name=\(name)
      category=online-service
      description=A place

      [profile-default]
      name=default
      type=container
      format=video/quicktime, variant=(string)iso

      [streamprofile-default-0]
      parent=default
      type=video
      format=video/x-h264

      [Retrograde]
      \(limits)

      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("the installed presets declare the limits of their services")
  func installedPresets() throws {
    let folder = Self.root.appending(path: "presets")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count >= 6)
    for name in names {
      let preset = try Preset(path: folder.appending(path: name).path)
      #expect("\(preset.name).gep" == name && preset.date != nil && !preset.extensions.isEmpty && preset.maxSize != nil)
    }
    let story = try Preset(path: folder.appending(path: "instagram-story.gep").path)
    #expect(story.crop == .shape(width: 9, height: 16) && story.scale == .pad(width: 1080, height: 1920))
    #expect(story.longest == ClockTime(seconds: 60) && story.videoCodec == "video/x-h264")
  }

  @Test("explicit options override a preset")
  func explicitOptions() throws {
    let preset = try Preset(path: write("crop=1:1\nfit=640x640\nmax-size=5MB\nmax-seconds=10\nextensions=mp4"))
    var options = ReverseOptions()
    preset.apply(to: &options)
    #expect(
      options.encoding.framing == Framing(crop: .shape(width: 1, height: 1), scale: .limit(width: 640, height: 640)))
    #expect(options.encoding.maxSize == ByteCount(5_000_000) && options.encoding.videoCodec == "video/x-h264")
    #expect(options.output.place == .init(name: "place", extensions: ["mp4"], longest: ClockTime(seconds: 10)))
    options = ReverseOptions()
    options.encoding.framing = Framing(crop: .area(width: 10, height: 10), scale: .width(20))
    (options.encoding.videoCodec, options.encoding.bitrate) = ("hevc", 1_000_000)
    let explicit = options.encoding
    preset.apply(to: &options)
    #expect(options.encoding.framing == explicit.framing && options.encoding.videoCodec == "hevc")
    #expect(options.encoding.maxSize == nil, "a rate is a size")
  }

  @Test(
    "the message names the invalid line",
    arguments: [
      ("max-size=huge", "max-size=huge"), ("colour=red", "crop, date"), ("crop=9", "crop=9"), ("pad=1x0", "pad=1x0"),
    ])
  func invalidLine(_ line: String, _ words: String) throws {
    let path = try write(line)
    let error = #expect(throws: RetrogradeError.self) { try Preset(path: path) }
    #expect(error?.message.contains(words) ?? false, "\(error?.message ?? "")")
    try Data("nothing".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: RetrogradeError.self) { try Preset(path: path) }
  }

  @Test("a user's preset is listed, and its limits are applied")
  func userPreset() throws {
    let folder = scratch.path("own/retrograde/presets")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = try write("crop=1:1\nmax-seconds=1\nextensions=mp4\nmax-size=90kB\ndate=2026-03", "mine")
    try FileManager.default.moveItem(atPath: path, toPath: "\(folder)/mine.gep")
    let environment = ProcessInfo.processInfo.environment.merging([
      "XDG_DATA_HOME": scratch.path("own"), "XDG_DATA_DIRS": scratch.path("none"),
    ]) { $1 }
    func run(_ arguments: String...) throws -> Command.Result {
      try Command.run(arguments, environment: environment)
    }
    let listed = try run("presets")
    let words = listed.output.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    #expect(words.contains("mine A place\n .mp4, cropped to 1:1, up to 1 s, up to 90 kB (as of 2026-03)\n"))
    try Command.makeClip(scratch.path("clip.mp4"), frames: 60)
    let (clip, out) = (scratch.path("clip.mp4"), scratch.path("out.mp4"))
    let long = try run("reverse", clip, out, "--for", "mine")
    #expect(long.status == 64)
    #expect(long.errors.contains("--for mine allows at most") && long.errors.contains("--end"))
    let other = try run("reverse", clip, scratch.path("out.webm"), "--for", "mine", "--end", "1")
    #expect(other.status == 64 && other.errors.contains("accepts only .mp4"))
    let unknown = try run("reverse", clip, out, "--for", "moon")
    #expect(unknown.status == 64 && unknown.errors.contains("choose ") && unknown.errors.contains("mine"))
    // A recording is kept even if it exceeds the limits.
    let recorded = try run(
      "capture", scratch.path("loop.mp4"), "--source", "videotestsrc is-live=true", "--frames", "30", "--for", "mine")
    #expect(recorded.status == 0 && recorded.errors.contains("--for mine allows at most"), "\(recorded.errors)")
    let made = try run("reverse", clip, out, "--for", "mine", "--end", "1")
    #expect(made.status == 0, "\(made.errors)")
    let size = try FileManager.default.attributesOfItem(atPath: out)[.size] as? Int
    #expect(size.map { $0 <= 90_000 } ?? false)
    let read = try DecodedMedia(out, like: TestMedia())
    #expect(read.videoCaps?.int("width") == read.videoCaps?.int("height"))
  }
}
