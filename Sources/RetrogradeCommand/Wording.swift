import Retrograde

extension Message {
  /// Text that names settings as command-line options, such as `--memory`.
  var inOptions: String { naming { $0.option } }
}

extension Setting {
  /// Returns the command-line option of a setting.
  @Sendable fileprivate static func option(_ setting: Setting) -> String { setting.option }

  /// `userInfo` for a JSON encoder that names settings as command-line options.
  static let jsonNaming: [CodingUserInfoKey: any Sendable] =
    Warning.naming.map { [$0: option as @Sendable (Setting) -> String] } ?? [:]

  var option: String {
    switch self {
    case .spoolDirectory: "--spool-dir"
    case .copiesForward: "--copy-forward"
    case .reencodes: "--reencode"
    case .frameRate: "--fps"
    case .keepsPitch: "--keep-pitch"
    case .interpolation: "--interpolate"
    case .isStrict: "--strict"
    case .isVerified: "--verify"
    case .subtitlesOutput: "--subtitles-output"
    case .overwrites: "--overwrite"
    case .constantRateFactor: "--crf"
    case .keepsAlpha: "--alpha"
    case .deinterlaces: "--deinterlace"
    case .showsTimecode: "--show-timecode"
    case .rotation: "--rotate"
    case .place: "--for"
    case .framing: "changes of the picture (--crop, --rotate, --flip, --width, --height, --fit)"
    // `playback.noAudio` becomes `--no-audio`.
    default: name.reduce(into: "--") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }
  }
}

extension RetrogradeError.Code {
  /// Exit status of the command, mostly from sysexits.h.
  var exitStatus: Int32 {
    switch self {
    case .notAMirror: 1
    case .usage: 64  // EX_USAGE
    case .damagedInput: 65  // EX_DATAERR
    case .noInput: 66  // EX_NOINPUT
    case .missingPlugin: 69  // EX_UNAVAILABLE
    case .cannotCreateOutput: 73  // EX_CANTCREAT
    case .inputOutput: 74  // EX_IOERR
    default: 70  // EX_SOFTWARE
    }
  }
}

extension SourceReport.Stream {
  /// Text about how a video is reversed: the containers in which the packets need no decoding, or
  /// the reason why packets must be decoded. nil for audio and subtitles.
  var turning: String? {
    if let whyDecoded { return "decoded and encoded: \(whyDecoded)" }
    let names = turnsAsPacketsIn?.map { ".\($0)" }.joined(separator: ", ")
    return names.map { "reversed without decoding in \($0)" }
  }
}
