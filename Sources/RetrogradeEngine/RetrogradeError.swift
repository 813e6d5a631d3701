import Containers
import Glibc
import GStreamer

/// What went wrong: what was being done, to what, why it failed, and what to do about it.
public struct RetrogradeError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. Its raw value is the exit status, mostly of sysexits.h, that the command ends with.
  public enum Code: Int32, Sendable {
    /// What was made is no exact mirror of its source, as a comparison found.
    case notAMirror = 1
    /// EX_USAGE: wrong or contradictory options.
    case usage = 64
    /// EX_DATAERR: the input is not media, or damaged beyond use.
    case damagedInput = 65
    /// EX_NOINPUT: the input is not there, or can't be read.
    case noInput = 66
    /// EX_UNAVAILABLE: a GStreamer plugin is missing.
    case missingPlugin = 69
    /// EX_SOFTWARE: GStreamer failed in a way that the input does not explain.
    case internalFailure = 70
    /// EX_CANTCREAT: the output can't be made.
    case cannotCreateOutput = 73
    /// EX_IOERR: no room left, or reading or writing failed.
    case inputOutput = 74
    /// The work was cancelled.
    case cancelled = 130

    /// What programs may know it by, in JSON; stable.
    public var name: String {
      switch self {
      case .notAMirror: "not-a-mirror"
      case .usage: "usage"
      case .damagedInput: "damaged-input"
      case .noInput: "no-input"
      case .missingPlugin: "missing-plugin"
      case .internalFailure: "internal-failure"
      case .cannotCreateOutput: "cannot-create-output"
      case .inputOutput: "input-output"
      case .cancelled: "cancelled"
      }
    }
  }

  public let code: Code
  /// A sentence without a full stop.
  public let message: String
  /// What GStreamer said, where it did.
  public let underlying: GStreamerError?

  public init(_ code: Code, _ message: String, underlying: GStreamerError? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  public var description: String { message }

  package func withCode(_ code: Code) -> RetrogradeError { RetrogradeError(code, message, underlying: underlying) }

  package static let cancelled = RetrogradeError(.cancelled, "cancelled")

  /// What GStreamer's `error` means for somebody who was reading `path`.
  package static func reading(_ path: String, _ error: GStreamerError) -> RetrogradeError {
    switch error.kind {
    case .missingPlugin:
      RetrogradeError(.missingPlugin, "\(path): \(error.message); \(PackageHint.all)", underlying: error)
    case .noSpace: RetrogradeError(.inputOutput, "\(path): \(error.message)", underlying: error)
    case .inputOutput: RetrogradeError(.inputOutput, "\(path): can't be read: \(error.message)", underlying: error)
    case .refusedValue: RetrogradeError(.usage, "\(path): \(error.description)", underlying: error)
    case .notMedia, .other:
      RetrogradeError(
        .damagedInput,
        "\(path): can't be read: it is damaged, or no media that GStreamer \(error.element.map { "(\($0)) " } ?? "")"
          + "knows: \(error.cause)", underlying: error)
    }
  }

  /// What GStreamer's `error` means for somebody who was writing `path`.
  package static func writing(_ path: String, _ error: GStreamerError) -> RetrogradeError {
    switch error.kind {
    case .missingPlugin:
      RetrogradeError(.missingPlugin, "\(path): \(error.message); \(PackageHint.all)", underlying: error)
    case .noSpace:
      RetrogradeError(.inputOutput, "\(path): the disk is full: \(error.message)", underlying: error)
    case .inputOutput:
      RetrogradeError(
        .inputOutput, "\(path): can't be written: \(error.systemReason ?? error.message)", underlying: error)
    case .refusedValue: RetrogradeError(.usage, "\(path): \(error.description)", underlying: error)
    case .notMedia, .other:
      RetrogradeError(
        .internalFailure,
        "\(path): can't be made: \(error.description)"
          + (error.debug.map { " (\($0.split(separator: "\n").last.map(String.init) ?? $0))" } ?? ""),
        underlying: error)
    }
  }
}

extension GStreamerError {
  /// What the system said, which elements leave to those who debug: "system error: …", or at the end of a sentence.
  fileprivate var systemReason: String? {
    let lines = debug?.split(separator: "\n") ?? []
    guard lines.count > 1, let line = lines.last else { return nil }
    return line.split(separator: ": ").last.map(String.init)
  }
}

/// Which Debian package has which plugins.
package enum PackageHint {
  package static let all =
    "install gstreamer1.0-plugins-good, gstreamer1.0-plugins-bad, gstreamer1.0-plugins-ugly and gstreamer1.0-libav"

  /// What to install to decode `mediaType`, as caps name it.
  package static func decoding(_ mediaType: String?) -> String {
    switch mediaType {
    case nil: all
    case let type? where type.contains("-fourcc-"): "GStreamer has no plugin for it"
    case "audio/x-opus", "audio/x-vorbis", "video/x-theora": "install gstreamer1.0-plugins-base"
    case "audio/x-flac", "audio/x-speex", "video/x-vp8", "video/x-vp9": "install gstreamer1.0-plugins-good"
    default: "install gstreamer1.0-libav"
    }
  }
}

extension RetrogradeError {
  /// A file that was made could not be finished.
  /// - Parameter output: what messages call it.
  package init(finishing output: String, _ error: FileError) {
    self.init(
      .inputOutput,
      error.number.map { "\(output): can't be finished: \(String(cString: strerror($0)))" }
        ?? "\(output): \(error.missing) did not reach the disk: look after the disk, and try again")
  }
}

extension RetrogradeError {
  /// - Parameters:
  ///   - name: what messages call the file.
  ///   - number: why it can't be read, errno(3).
  package init(reading name: String, errno number: Int32) {
    self.init(.inputOutput, "\(name): can't be read: \(String(cString: strerror(number)))")
  }
}

extension RandomAccessFile {
  /// - Parameter name: what messages call the file.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`, where reading it failed.
  package func checkReading(_ name: String) throws {
    if let readingFailure { throw RetrogradeError(reading: name, errno: readingFailure) }
  }
}
