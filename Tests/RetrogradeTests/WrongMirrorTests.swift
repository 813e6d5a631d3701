import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Splits a text at spaces.
private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

/// Files that are nearly the mirror of a clip. For each, one check of `verify` must fail.
@Suite struct WrongMirrorTests {
  /// Codecs and container of a file that FFmpeg writes.
  enum Form: String, Sendable {
    case lossy = "-c:v libx264 -crf 20 -c:a aac -b:a 192k -c:s mov_text"
    case lossless = "-c:v ffv1 -c:a flac -c:s copy"
    case copied = "-c copy"

    var arguments: [String] { words(rawValue) }
  }

  /// Kind of clip. Each kind has a feature that the others lack.
  enum Kind: String, Sendable, CaseIterable {
    case plain
    /// MP4 with a rotation.
    case rotated
    /// FFV1 with a transparent square that moves.
    case transparent
    /// Two streams each of video, audio and subtitles.
    case paired
    /// FFV1 so dark and pale that neighbouring frames hardly differ.
    case dark

    fileprivate func fileExtension(_ form: Form) -> String {
      switch self {
      case .rotated: "mp4"
      default: form == .lossy ? "mp4" : "mkv"
      }
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// FFmpeg's arguments, which make the wrong file from the correct mirror.
    let arguments: [String]
    let form: Form
    /// The subject of the check that must fail.
    let check: String
    /// FFmpeg's second input: its name and content.
    let file: (name: String, text: String)?
    let kind: Kind
    /// Rotation in quarter turns, which replaces the mirror's own rotation.
    let quarters: Int?

    init(
      _ name: String, _ arguments: String, _ form: Form, _ check: String, _ file: (name: String, text: String)? = nil,
      of kind: Kind = .plain, quarters: Int? = nil
    ) {
      (self.kind, self.quarters) = (kind, quarters)
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

  private static let chirps =
    "aevalsrc=0.3*sin(2*PI*(200+300*t)*t)+0.1*sin(2*PI*1300*t*t)"
    + "|0.3*sin(2*PI*(400+150*t)*t)+0.1*sin(2*PI*900*t*t):s=48000:d=1.5"

  private static let otherChirps = "aevalsrc=0.3*sin(2*PI*(300+200*t)*t)|0.3*sin(2*PI*(500+250*t)*t):s=48000:d=1.5"

  /// A source and its correct mirror for each kind. All tests share them.
  private static let clips = Dictionary(
    uniqueKeysWithValues: Kind.allCases.map { kind in
      (kind, Task { try await kind == .plain ? plainClip() : special(kind) })
    })

  private static func special(_ kind: Kind) async throws -> Clip {
    let folder = try TemporaryFolder()
    let end = kind.fileExtension(.lossless)
    let (source, mirror) = (folder.path("source.\(end)"), folder.path("mirror.\(end)"))
    let video = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=20:d=1.5"]
    let audio = ["-f", "lavfi", "-i", chirps]
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    switch kind {
    case .plain: break
    case .dark:
      let levels = "lutyuv=y=16+(val-16)/16:u=128+(val-128)/8:v=128+(val-128)/8"
      _ = try FFmpeg.bytes(video + ["-vf", levels, "-c:v", "ffv1", source])
    case .rotated:
      let flat = folder.path("flat.mp4")
      _ = try FFmpeg.bytes(video + words("-c:v libx264 -qp 0 -pix_fmt yuv420p") + [flat])
      _ = try FFmpeg.bytes(["-i", flat] + words("-c copy") + [source])
      try rotate(source, 1)
      options.encoding.quality = .source
    case .transparent:
      let square = "geq=lum='p(X,Y)':cb='p(X,Y)':cr='p(X,Y)':a='if(lt(abs(X-20-3*N),20),0,255)'"
      _ = try FFmpeg.bytes(video + ["-vf", "format=yuva420p,\(square)", "-c:v", "ffv1", source])
    case .paired:
      let texts = [
        cues(("0,200", "0,600", "Hello"), ("0,800", "1,100", "World")),
        cues(("0,200", "0,600", "Bonjour"), ("0,800", "1,100", "Monde")),
      ]
      var inputs = video + ["-f", "lavfi", "-i", "smptebars=s=160x120:r=20:d=1.5,hue=h=90*t"]
      inputs += audio + ["-f", "lavfi", "-i", otherChirps]
      for (number, text) in texts.enumerated() {
        let path = folder.path("\(number).srt")
        try Data(text.text.utf8).write(to: URL(fileURLWithPath: path))
        inputs += ["-i", path]
      }
      inputs += words("-map 0 -map 1 -map 2 -map 3 -map 4 -map 5 -pix_fmt yuv420p")
      inputs += words("-metadata:s:s:0 language=eng -metadata:s:s:1 language=fre")
      _ = try FFmpeg.bytes(inputs + words("-c:v ffv1 -c:a pcm_s16le -c:s srt") + [source])
    }
    try await Reverser(source, options: options).reverse(to: mirror)
    return Clip(folder: folder, source: source, mirror: mirror)
  }

  /// Sets the rotation of an MP4 file (`tkhd`, ISO/IEC 14496-12, 8.3.2). FFmpeg's options for
  /// rotation differ between releases.
  /// - Parameter quarters: quarter turns, from 0 to 3.
  private static func rotate(_ path: String, _ quarters: Int) throws {
    let axes = [[1, 0, 0, 1], [0, 1, -1, 0], [-1, 0, 0, -1], [0, -1, 1, 0]][quarters]
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let header = try #require(bytes.range(of: Data("tkhd".utf8))).upperBound
    for (place, axis) in zip([0, 1, 3, 4], axes) {
      let number = withUnsafeBytes(of: Int32(axis << 16).bigEndian) { Data($0) }
      bytes.replaceSubrange(header + 40 + 4 * place..<header + 44 + 4 * place, with: number)
    }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  /// Writes a clip of 1.5 s and its mirror: 160x120, two channels of chirps, two subtitles, two
  /// chapters, a title, an artist and a language.
  private static func plainClip() async throws -> Clip {
    let folder = try TemporaryFolder()
    let (source, mirror) = (folder.path("source.mkv"), folder.path("mirror.mkv"))
    let texts = [cues(("0,200", "0,600", "Hello"), ("0,800", "1,100", "World")), chapters((0, "One"), (600, "Two"))]
    for text in texts { try Data(text.text.utf8).write(to: URL(fileURLWithPath: folder.path(text.name))) }
    var arguments = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=20:d=1.5"]
    arguments += ["-f", "lavfi", "-i", chirps]
    for text in texts { arguments += ["-i", folder.path(text.name)] }
    arguments += words("-map 0 -map 1 -map 2 -map_chapters 3 -metadata:s:a language=fre -metadata:s:a title=Chirps")
    arguments += ["-metadata", "title=A day", "-metadata", "artist=Ada"]
    arguments += words("-vf setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709")
    arguments += words("-c:v ffv1 -c:a pcm_s16le -c:s srt")
    _ = try FFmpeg.bytes(arguments + [source])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(source, options: options).reverse(to: mirror)
    return Clip(folder: folder, source: source, mirror: mirror)
  }

  private static func failures(
    _ form: Form, _ arguments: [String] = [], _ file: (name: String, text: String)? = nil, of kind: Kind = .plain,
    quarters: Int? = nil
  ) async throws -> [String] {
    let clip = try #require(try await clips[kind]?.value)
    let folder = try TemporaryFolder()
    let other = folder.path("other.\(kind.fileExtension(form))")
    var inputs = ["-i", clip.mirror]
    if let file {
      try Data(file.text.utf8).write(to: URL(fileURLWithPath: folder.path(file.name)))
      inputs += ["-i", folder.path(file.name)]
    }
    _ = try FFmpeg.bytes(inputs + ["-map", "0"] + arguments + form.arguments + [other])
    if let quarters { try rotate(other, quarters) }
    return try await Verifier(clip.source, mirror: other).verify().checks.filter { !$0.holds }
      .map(\.subject)
  }

  @Test("a correct mirror passes", arguments: [Form.lossy, .lossless, .copied])
  func correctMirror(_ form: Form) async throws {
    #expect(try await WrongMirrorTests.failures(form) == [])
  }

  @Test("a correct mirror of each kind of clip passes", arguments: Kind.allCases)
  func correctMirrorOfKind(of kind: Kind) async throws {
    #expect(try await WrongMirrorTests.failures(.copied, of: kind) == [])
  }

  @Test("verify reports a wrong mirror with the right check", arguments: WrongMirrorTests.faults)
  func wrongMirror(_ fault: Fault) async throws {
    #expect(
      try await WrongMirrorTests.failures(
        fault.form, fault.arguments, fault.file, of: fault.kind, quarters: fault.quarters
      ).contains(fault.check))
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
    Fault("red and blue exchanged in one frame", "-vf swapuv=enable='eq(n,12)'", .lossless, "picture"),
    Fault("one frame flipped, dark FFV1", "-vf hflip=enable='eq(n,12)'", .lossless, "picture", of: .dark),
    Fault(
      "a square of 32x32 is 20 levels brighter, dark FFV1", "-vf drawbox=40:40:32:32:white@0.1:fill", .lossless,
      "picture", of: .dark),
    Fault(
      "a frame is the average of itself and the one before it, FFV1",
      "-filter_complex [0:v]split[a][b];[b]tmix=frames=2[c];[a][c]overlay=enable='eq(n,12)'[other] -map -0:v "
        + "-map [other]", .lossless, "picture"),
    Fault(
      "all frames are one late, dark FFV1", "-vf tpad=start=1:start_mode=clone,trim=end_frame=30", .lossless, "order",
      of: .dark),
    Fault(
      "two frames are exchanged, dark FFV1", "-vf shuffleframes='0|2|1|3|4|5'", .lossless, "order", of: .dark),
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
    Fault(
      "20 ms of silence", "-af asetnsamples=480,volume=0:enable='between(t,0.509,0.521)'", .lossy, "audio 0 samples"),
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
    Fault("another name of the audio", "-metadata:s:a title=Noise", .lossless, "stream titles"),
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
    Fault("the rotation is lost", "", .copied, "orientation", of: .rotated, quarters: 0),
    Fault("rotated twice as far", "", .copied, "orientation", of: .rotated, quarters: 2),
    Fault("rotated the other way", "", .copied, "orientation", of: .rotated, quarters: 3),
    Fault("the transparency is lost", "-pix_fmt yuv420p", .lossless, "transparency", of: .transparent),
    Fault("all is opaque", "-vf lutyuv=a=255", .lossless, "brightness", of: .transparent),
    Fault("the transparency is inverted", "-vf lutyuv=a=negval", .lossless, "brightness", of: .transparent),
    Fault(
      "the first video instead of the second", "-map -0:v -map 0:v:0 -map 0:v:0", .lossless, "order 1", of: .paired),
    Fault(
      "the first audio instead of the second", "-map -0:a -map 0:a:0 -map 0:a:0", .lossless, "audio 1 samples",
      of: .paired),
    Fault(
      "the first subtitles instead of the second", "-map -0:s -map 0:s:0 -map 0:s:0", .lossless, "subtitles 1",
      of: .paired),
    Fault("another language of subtitles", "-metadata:s:s:1 language=ger", .copied, "languages", of: .paired),
    Fault("another artist", "-metadata artist=Eve", .lossless, "tags"),
    Fault("one frame is blurred", "-vf gblur=sigma=3:enable='eq(n,12)'", .lossy, "order"),
    Fault(
      "one frame twice, and the next one left out", "-vf split[a][b];[a][b]freezeframes=first=10:last=10:replace=11",
      .lossy, "order"),
    Fault(
      "a square of 16x16 of another colour",
      "-filter_complex [0:v]split[a][b];[b]crop=16:16:40:40,hue=h=90[c];[a][c]overlay=40:40[other] -map -0:v "
        + "-map [other]", .lossy, "picture"),
    Fault("one channel inverted", "-af pan=stereo|c0=c0|c1=-1*c1", .lossy, "audio 0 samples"),
    Fault("both channels mixed into each", "-af pan=stereo|c0=.5*c0+.5*c1|c1=.5*c0+.5*c1", .lossy, "audio 0 samples"),
    Fault("clipped", "-af volume=4,aformat=s16,volume=0.25", .lossy, "audio 0 level"),
    Fault("one channel a sample late, FLAC", "-af adelay=0S|1S,atrim=end_sample=72000", .lossless, "audio 0 samples"),
  ]
}
