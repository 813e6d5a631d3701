package import Containers
import Glibc
public import GStreamer

/// Failure of an operation: the operation, its subject, the reason, and a remedy.
public struct RetrogradeError: Error, Sendable, CustomStringConvertible {
  /// Kind of failure. The raw values are stable, so programs may rely on them. Later versions may
  /// add more values.
  public struct Code: RawRepresentable, Hashable, Sendable, Codable {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A comparison found that the result is not an exact reversal of its source.
    public static let notAMirror = Code(rawValue: "not-a-mirror")
    /// Wrong or contradictory options.
    public static let usage = Code(rawValue: "usage")
    /// The input is not media, or damaged beyond use.
    public static let damagedInput = Code(rawValue: "damaged-input")
    /// The input does not exist or can't be read.
    public static let noInput = Code(rawValue: "no-input")
    /// A GStreamer plugin, a display or an audio device is missing, or GStreamer can't read this
    /// variant of a format.
    public static let missingPlugin = Code(rawValue: "missing-plugin")
    /// GStreamer failed in a way that the input does not explain.
    public static let internalFailure = Code(rawValue: "internal-failure")
    /// The output can't be created.
    public static let cannotCreateOutput = Code(rawValue: "cannot-create-output")
    /// A process that read the input crashed, or was ended because it stalled or took too much
    /// memory.
    public static let crashed = Code(rawValue: "crashed")
    /// The disk is full, reading or writing failed, or the system refused memory or a thread.
    public static let inputOutput = Code(rawValue: "input-output")
  }

  public let code: Code
  /// File or device that was being read or written, or position of an error in a pipeline file; nil
  /// if there is no subject, or if the reason names the subject.
  public let subject: String?
  /// Operation that failed, and the reason.
  public let reason: Message
  /// Advice for the user; nil if no remedy is known.
  public let remedy: Message?
  /// GStreamer's own error, if there is one.
  public let underlying: GStreamerError?

  /// Creates an error; the parameters are the properties of the same names.
  public init(
    _ code: Code, about subject: String? = nil, _ reason: Message, remedy: Message? = nil,
    underlying: GStreamerError? = nil
  ) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.remedy = remedy
    self.underlying = underlying
  }

  /// Full text: subject, reason and remedy.
  public var message: Message {
    let failure: Message = subject.map { "\($0): \(reason)" } ?? reason
    return remedy.map { "\(failure); \($0)" } ?? failure
  }

  public var description: String { message.description }

  /// Returns the error with `name` as its subject, if the subject is the path of an open file
  /// (`/proc/…/fd/N`); otherwise, the unchanged error.
  package func naming(spooled name: String) -> RetrogradeError {
    guard let subject, subject.hasPrefix("/proc/"), subject.contains("/fd/") else { return self }
    return RetrogradeError(code, about: name, reason, remedy: remedy, underlying: underlying)
  }

  package func withCode(_ code: Code) -> RetrogradeError {
    RetrogradeError(code, about: subject, reason, remedy: remedy, underlying: underlying)
  }

  /// GStreamer elements that refuse some valid files of their own format: JPEG 2000 with four
  /// components, High-Throughput JPEG 2000, and Musepack.
  private static let particular = ["jpeg2000parse", "musepackdec"]

  /// Returns the error to report for GStreamer's `error` while reading `path`.
  package static func reading(_ path: String, _ error: GStreamerError) -> RetrogradeError {
    switch error.kind {
    case .missingPlugin:
      RetrogradeError(.missingPlugin, about: path, "\(error.message)", remedy: "\(PackageHint.all)", underlying: error)
    case .noSpace: RetrogradeError(.inputOutput, about: path, "\(error.message)", underlying: error)
    case .inputOutput: RetrogradeError(.inputOutput, about: path, "can't be read: \(error.message)", underlying: error)
    case .refusedValue: RetrogradeError(.usage, about: path, "\(error.description)", underlying: error)
    case .notMedia where error.element.map(particular.contains) ?? false:
      RetrogradeError(
        .missingPlugin, about: path,
        "not supported: GStreamer\(error.element.map { " (\($0))" } ?? "") can't read the file, "
          + "which is damaged or in an unknown variant of its format: \(error.cause)",
        remedy: "convert the file with another program", underlying: error)
    case .notMedia, .other:
      RetrogradeError(
        .damagedInput,
        about: path,
        "can't be read: it is damaged, or in a format that GStreamer \(error.element.map { "(\($0)) " } ?? "")"
          + "does not know: \(error.cause)", underlying: error)
    }
  }

  /// Returns the error to report for GStreamer's `error` while writing `path`.
  package static func writing(_ path: String, _ error: GStreamerError) -> RetrogradeError {
    switch error.kind {
    case .missingPlugin:
      RetrogradeError(.missingPlugin, about: path, "\(error.message)", remedy: "\(PackageHint.all)", underlying: error)
    case .noSpace:
      RetrogradeError(.inputOutput, about: path, "the disk is full: \(error.message)", underlying: error)
    case .inputOutput:
      RetrogradeError(
        .inputOutput, about: path, "can't be written: \(error.systemReason ?? error.message)", underlying: error)
    case .refusedValue: RetrogradeError(.usage, about: path, "\(error.description)", underlying: error)
    case .notMedia, .other:
      RetrogradeError(
        .internalFailure,
        about: path,
        "can't be created: \(error.description)"
          + (error.debug.map { " (\($0.split(separator: "\n").last.map(String.init) ?? $0))" } ?? ""),
        underlying: error)
    }
  }
}

/// The encoded form lacks the underlying GStreamer error, but the reason contains that error's
/// text.
extension RetrogradeError: Codable {
  private enum CodingKeys: String, CodingKey {
    case code, subject, reason, remedy
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try values.decode(Code.self, forKey: .code), about: try values.decodeIfPresent(String.self, forKey: .subject),
      try values.decode(Message.self, forKey: .reason),
      remedy: try values.decodeIfPresent(Message.self, forKey: .remedy))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(code, forKey: .code)
    try values.encodeIfPresent(subject, forKey: .subject)
    try values.encode(reason, forKey: .reason)
    try values.encodeIfPresent(remedy, forKey: .remedy)
  }
}

extension GStreamerError {
  /// Reason from the operating system: the text after the last colon in the debug text; nil if the
  /// debug text has only one line.
  fileprivate var systemReason: String? {
    let lines = debug?.split(separator: "\n") ?? []
    guard lines.count > 1, let line = lines.last else { return nil }
    return line.split(separator: ": ").last.map(String.init)
  }
}

/// Debian packages that contain GStreamer plugins.
package enum PackageHint {
  package static let all =
    "install gstreamer1.0-plugins-good, gstreamer1.0-plugins-bad, gstreamer1.0-plugins-ugly and gstreamer1.0-libav"

  /// Returns the advice to install the package that decodes `mediaType`; nil if the package is
  /// installed. If `mediaType` is nil, the advice is to install all packages.
  package static func decoding(_ mediaType: String?) -> String? {
    guard let mediaType else { return all }
    let (package, element) =
      switch mediaType {
      case "audio/x-opus", "audio/x-vorbis", "video/x-theora": ("gstreamer1.0-plugins-base", "playbin")
      case "audio/x-flac", "audio/x-speex", "video/x-vp8", "video/x-vp9": ("gstreamer1.0-plugins-good", "matroskademux")
      default: ("gstreamer1.0-libav", "avdec_h264")
      }
    return Registry.has(element) ? nil : "install \(package)"
  }
}

extension RetrogradeError {
  /// Creates the error for an output that could not be finished.
  /// - Parameter output: name of the output in messages.
  package init(finishing output: String, _ error: FileError) {
    self.init(
      .inputOutput,
      about: output,
      error.number.map { "can't be finished: \(String(cString: strerror($0)))" }
        ?? "can't be finished: the file on the disk lacks \(error.missing)",
      remedy: error.number == nil ? "check the disk, and try again" : nil)
  }
}

extension RetrogradeError {
  /// - Parameters:
  ///   - name: name of the file in messages.
  ///   - number: reason, as an `errno` value.
  package init(reading name: String, errno number: Int32) {
    self.init(.inputOutput, about: name, "can't be read: \(String(cString: strerror(number)))")
  }
}

extension RandomAccessFile {
  /// - Parameter name: name of the file in messages.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if reading the file failed.
  package func checkReading(_ name: String) throws {
    if let readingFailure { throw RetrogradeError(reading: name, errno: readingFailure) }
  }
}
