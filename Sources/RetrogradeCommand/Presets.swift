import ArgumentParser
import FoundationEssentials
import Retrograde
import RetrogradeEngine

/// Presets for `--for`, by name.
struct PresetFolders {
  private let folders = DataFolders("presets", ".gep")

  var paths: [String] { folders.paths }

  /// Names and paths of all preset files in the preset folders.
  func files() -> [(name: String, path: String)] { folders.files() }

  /// Loads the preset `name`, which is a path or the name of a file in the preset folders.
  /// - Throws: ``RetrogradeError`` of code `usage`, with the available names.
  func preset(_ name: String) throws -> Preset {
    if name.contains("/") { return try Preset(path: name) }
    let files = files()
    if let file = files.first(where: { $0.name == name.lowercased() }) { return try Preset(path: file.path) }
    throw RetrogradeError(
      .usage,
      "--for \(name): there is no such preset; "
        + (files.isEmpty
          ? "none is installed in \(paths.joined(separator: ", "))"
          : "choose \(files.map(\.name).joined(separator: ", "))"),
      remedy: "`retrograde presets` lists all presets with their limits")
  }
}

extension Preset {
  /// Loads the preset that the argument of `--for` names.
  @Sendable static func argument(_ name: String) throws -> Preset {
    do {
      return try PresetFolders().preset(name)
    } catch let error as RetrogradeError {
      throw ValidationError(error.message.inOptions)
    }
  }

  /// Limits of the preset in words.
  fileprivate var limits: String {
    var parts: [String] = []
    if !extensions.isEmpty { parts.append(extensions.map { ".\($0)" }.joined(separator: " or ")) }
    switch crop {
    case .shape(let width, let height, _): parts.append("cropped to \(width.plain):\(height.plain)")
    case .area(let width, let height, _): parts.append("cropped to \(width)x\(height)")
    case nil: break
    }
    switch scale {
    case .pad(let width, let height): parts.append("\(width)x\(height)")
    case .limit(let width, let height), .fit(let width, let height): parts.append("within \(width)x\(height)")
    case .width, .height, nil: break
    }
    if let longest { parts.append("up to \(longest.seconds.plain) s") }
    if let maxSize { parts.append("up to \(maxSize.decimal)") }
    return parts.joined(separator: ", ")
  }
}

struct Presets: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the presets for services (option --for), with each service's limits and when they were looked up.",
    discussion: """
      A preset is a file NAME.gep: a GStreamer encoding target with an additional group [Retrograde] for the limits. \
      Put presets of your own into $XDG_DATA_HOME/retrograde/presets (~/.local/share/…). They replace installed \
      presets of the same name. Services change their limits; the date says when these limits were looked up.

      EXAMPLES
        retrograde presets
        retrograde reverse clip.mp4 story.mp4 --for instagram-story
      """)

  func run() throws {
    let folders = PresetFolders()
    let files = folders.files()
    guard !files.isEmpty else {
      throw RetrogradeError(.noInput, "no presets are installed in \(folders.paths.joined(separator: ", "))")
    }
    let width = files.map(\.name.count).max() ?? 0
    for file in files {
      let name = file.name.padded(to: width)
      do {
        let preset = try Preset(path: file.path)
        Terminal.print("\(name)  \(preset.description)")
        Terminal.print(
          String(repeating: " ", count: width + 2) + preset.limits + (preset.date.map { " (as of \($0))" } ?? ""))
      } catch {
        Terminal.print("\(name)  can't be used: \(error)")
      }
    }
  }
}
