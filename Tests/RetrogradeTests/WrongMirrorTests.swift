import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Arguments without spaces in them.
private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

/// Files that are nearly the mirror of a clip, and the check of `verify` that refuses each.
@Suite struct WrongMirrorTests {
  /// Codecs and container that FFmpeg writes a file with.
  enum Form: String, Sendable {
    case lossy = "-c:v libx264 -crf 20 -c:a aac -b:a 192k -c:s mov_text"
    case lossless = "-c:v ffv1 -c:a flac -c:s copy"
    case copied = "-c copy"

    var name: String { self == .lossy ? "other.mp4" : "other.mkv" }
    var arguments: [String] { words(rawValue) }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// For FFmpeg, which makes the file of the right mirror.
    let arguments: [String]
    let form: Form
    /// The subject of the check that must fail.
    let check: String
    /// FFmpeg's second input: its name, and what is in it.
    let file: (name: String, text: String)?

    init(
      _ name: String, _ arguments: String, _ form: Form, _ check: String, _ file: (name: String, text: String)? = nil
    ) {
      (testDescription, self.form, self.check, self.file) = (name, form, check, file)
      self.arguments = words(arguments)
    }
  }

  private struct Clip: Sendable {
    let folder: TemporaryFolder
    let source: String
    let mirror: String
  }

  private static func cues(_ cues: (start: String, end: String, text: String)...) -> (name: String, text: String) {
    let blocks = cues.enumerated().map { "\($0 + 1)\n00:00:0\($1.start) --> 00:00:0\($1.end)\n\($1.text)\n" }
    return ("other.srt", blocks.joined(separator: "\n"))
  }

  private static func chapters(_ chapters: (start: Int, title: String)...) -> (name: String, text: String) {
    let ends = chapters.dropFirst().map(\.start) + [1500]
    let parts = zip(chapters, ends).map {
      "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\($0.start)\nEND=\($1)\ntitle=\($0.title)\n"
    }
    return ("other.txt", ";FFMETADATA1\n" + parts.joined())
  }

  /// Made once for all tests: 1.5 s of 160x120, two channels of chirps, two subtitles, two chapters, a title and a
  /// language.
  private static let clip = Task {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("source.mkv"), folder.path("mirror.mkv"))
    let texts = [cues(("0,200", "0,600", "Hello"), ("0,800", "1,100", "World")), chapters((0, "One"), (600, "Two"))]
    for text in texts { try Data(text.text.utf8).write(to: URL(fileURLWithPath: folder.path(text.name))) }
    let chirps =
      "0.3*sin(2*PI*(200+300*t)*t)+0.1*sin(2*PI*1300*t*t)"
      + "|0.3*sin(2*PI*(400+150*t)*t)+0.1*sin(2*PI*900*t*t)"
    var arguments = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=20:d=1.5"]
    arguments += ["-f", "lavfi", "-i", "aevalsrc=\(chirps):s=48000:d=1.5"]
    for text in texts { arguments += ["-i", folder.path(text.name)] }
    arguments += words("-map 0 -map 1 -map 2 -map_chapters 3 -metadata:s:a language=fre")
    arguments += ["-metadata", "title=A day"]
    arguments += words("-vf setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709")
    arguments += words("-c:v ffv1 -c:a pcm_s16le -c:s srt")
    _ = try FFmpeg.bytes(arguments + [source])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(source, options: options).reverse(to: mirror)
    return Clip(folder: folder, source: source, mirror: mirror)
  }

  private static func failures(
    _ form: Form, _ arguments: [String] = [], _ file: (name: String, text: String)? = nil
  ) async throws -> [String] {
    let clip = try await clip.value
    let folder = try TemporaryFolder()
    let other = folder.path(form.name)
    var inputs = ["-i", clip.mirror]
    if let file {
      try Data(file.text.utf8).write(to: URL(fileURLWithPath: folder.path(file.name)))
      inputs += ["-i", folder.path(file.name)]
    }
    _ = try FFmpeg.bytes(inputs + ["-map", "0"] + arguments + form.arguments + [other])
    return try await Verifier(clip.source, mirror: other).verify().checks.filter { !$0.holds }
      .map(\.subject)
  }

  @Test("a right mirror passes", arguments: [Form.lossy, .lossless, .copied])
  func rightMirror(_ form: Form) async throws {
    #expect(try await WrongMirrorTests.failures(form) == [])
  }

  @Test("a wrong mirror is refused", arguments: WrongMirrorTests.faults)
  func wrongMirror(_ fault: Fault) async throws {
    #expect(try await WrongMirrorTests.failures(fault.form, fault.arguments, fault.file).contains(fault.check))
  }

  private static let faults = [
    Fault("frames in their own order", "-vf reverse", .lossy, "order"),
    Fault("a frame is missing", "-vf select='not(eq(n,10))' -fps_mode vfr", .lossless, "frames"),
    Fault("a frame too many", "-vf tpad=stop=1:stop_mode=clone", .lossless, "frames"),
    Fault("two frames are exchanged", "-vf shuffleframes='0|2|1|3|4|5'", .lossy, "order"),
    Fault(
      "a frame shows the one before it",
      "-vf split[a][b];[a][b]freezeframes=first=10:last=10:replace=9", .lossy, "order"),
    Fault(
      "all frames are one late", "-vf tpad=start=1:start_mode=clone,trim=end_frame=30", .lossy, "order"),
    Fault("upside down", "-vf hflip,vflip", .lossy, "order"),
    Fault("enlarged by 5 %", "-vf crop=152:114,scale=160:120,setsar=1", .lossy, "order"),
    Fault("flipped from left to right", "-vf hflip", .lossy, "order"),
    Fault("flipped from top to bottom", "-vf vflip", .lossy, "order"),
    Fault("negative", "-vf negate", .lossy, "order"),
    Fault("moved by 2 pixels", "-vf crop=158:120:2:0,pad=160:120:0:0", .lossy, "order"),
    Fault("blurred", "-vf gblur=sigma=4", .lossy, "order"),
    Fault("a black square of 16x16", "-vf drawbox=40:40:16:16:black:fill", .lossy, "picture"),
    Fault(
      "a black square of 8x8 in one frame",
      "-vf drawbox=40:40:8:8:black:fill:enable='eq(n,12)'", .lossy, "picture"),
    Fault("3 % lighter", "-vf lutyuv=y=val*1.03", .lossy, "brightness"),
    Fault("one frame lighter", "-vf lutyuv=y=val+12:enable='eq(n,12)'", .lossy, "brightness"),
    Fault("paler colours", "-vf hue=s=0.85", .lossy, "brightness"),
    Fault("no colours", "-vf hue=s=0", .lossy, "brightness"),
    Fault("red and blue exchanged", "-vf shuffleplanes=0:2:1", .lossy, "brightness"),
    Fault("levels of another range", "-vf lutyuv=y=(val-16)*255/219", .lossy, "brightness"),
    Fault("marked with other colours", "-bsf:v h264_metadata=matrix_coefficients=6", .lossy, "colour"),
    Fault("marked with another range", "-bsf:v h264_metadata=video_full_range_flag=1", .lossy, "colour"),
    Fault("other hues", "-vf hue=h=10", .lossy, "brightness"),
    Fault("another width", "-vf scale=152:120,setsar=1", .lossy, "size"),
    Fault("another shape of pixels", "-vf setsar=4/3", .lossless, "size"),
    Fault("marked as interlaced", "-x264opts interlaced:tff", .lossy, "interlace"),
    Fault(
      "frames of the second half are 20 ms late",
      "-bsf:v setts=ts='TS+20*gte(N,15)'", .copied, "times"),
    Fault("played 1 % slower", "-bsf:v setts=ts=TS*1.01", .copied, "times"),
    Fault("starts 0.9 s late", "-output_ts_offset 0.9", .lossy, "start"),
    Fault("no audio", "-map -0:a", .lossless, "audio streams"),
    Fault("audio twice", "-map 0:a", .lossless, "audio streams"),
    Fault("no video", "-map -0:v", .lossless, "video streams"),
    Fault("no subtitles", "-map -0:s", .lossless, "subtitle streams"),
    Fault(
      "300 ms of silence",
      "-af volume=0:enable='between(t,0.5,0.8)'", .lossy, "audio 0 samples"),
    Fault(
      "100 ms of silence",
      "-af volume=0:enable='between(t,0.5,0.6)'", .lossy, "audio 0 samples"),
    Fault(
      "100 ms of silence, FLAC",
      "-af volume=0:enable='between(t,0.5,0.6)'", .lossless, "audio 0 samples"),
    Fault("one channel silent", "-af pan=stereo|c0=c0|c1=0*c1", .lossy, "audio 0 samples"),
    Fault("channels exchanged", "-af pan=stereo|c0=c1|c1=c0", .lossy, "audio 0 samples"),
    Fault("inverted", "-af volume=-1", .lossy, "audio 0 samples"),
    Fault("samples in their own order", "-af areverse", .lossy, "audio 0 samples"),
    Fault("1 % higher and faster", "-af asetrate=48480,aresample=48000", .lossy, "audio 0 samples"),
    Fault("0.1 % higher and faster", "-af asetrate=48048,aresample=48000", .lossy, "audio 0 samples"),
    Fault("one channel 5 ms late", "-af adelay=0|5", .lossy, "audio 0 samples"),
    Fault(
      "10 ms left out", "-af asetnsamples=480,aselect='not(eq(n,70))',asetpts=N/SR/TB", .lossy, "audio 0 samples"),
    Fault("muffled", "-af lowpass=f=200", .lossy, "audio 0 level"),
    Fault("8 bits instead of 16", "-af aformat=u8,aformat=s16", .lossless, "audio 0 samples"),
    Fault("another sampling rate", "-ar 44100", .lossless, "audio 0 rate"),
    Fault("one channel for two", "-ac 1", .lossy, "audio 0"),
    Fault("300 ms too few", "-af atrim=end=1.2", .lossy, "audio 0"),
    Fault("300 ms too many", "-af apad=pad_dur=0.3", .lossy, "audio 0"),
    Fault("one sample too many, FLAC", "-af adelay=1S:all=1,asetnsamples=1024:p=0", .lossless, "audio 0"),
    Fault("3 dB quieter", "-af volume=-3dB", .lossy, "audio 0 level"),
    Fault("1.5 dB louder", "-af volume=1.5dB", .lossy, "audio 0 level"),
    Fault("1 % quieter, FLAC", "-af volume=0.99", .lossless, "audio 0 level"),
    Fault(
      "200 ms 6 dB quieter",
      "-af volume=0.5:enable='between(t,0.5,0.7)'", .lossy, "audio 0 level"),
    Fault("5 ms late", "-af adelay=5:all=1", .lossy, "audio 0 sync"),
    Fault("5 ms early", "-af atrim=start=0.005,asetpts=PTS-STARTPTS", .lossy, "audio 0 sync"),
    Fault("100 ms late", "-af adelay=100:all=1", .lossy, "audio 0 sync"),
    Fault("another title", "-metadata title=Other", .lossless, "tags"),
    Fault("no title", "-map_metadata -1", .lossless, "tags"),
    Fault("another language", "-metadata:s:a language=ger", .lossless, "languages"),
    Fault("subtitles marked as forced", "-disposition:s forced", .lossless, "dispositions"),
    Fault(
      "another word in a subtitle", "-map -0:s -map 1", .lossless, "subtitles 0",
      cues(("0,400", "0,700", "World"), ("0,900", "1,300", "Hallo"))),
    Fault(
      "subtitles in their own order", "-map -0:s -map 1", .lossless, "subtitles 0",
      cues(("0,200", "0,600", "Hello"), ("0,800", "1,100", "World"))),
    Fault(
      "a subtitle ends 200 ms early", "-map -0:s -map 1", .lossless, "subtitles 0",
      cues(("0,400", "0,700", "World"), ("0,900", "1,100", "Hello"))),
    Fault("no chapters", "-map_chapters -1", .lossless, "chapters"),
    Fault(
      "a chapter starts 100 ms late", "-map_chapters 1", .lossless, "chapters", chapters((0, "Two"), (1000, "One"))),
    Fault(
      "chapters have each other's titles", "-map_chapters 1", .lossless, "chapters",
      chapters((0, "One"), (900, "Two"))),
  ]
}
