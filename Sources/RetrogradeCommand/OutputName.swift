import ArgumentParser
import Paths
import Retrograde

/// Pattern for output names, such as `{stem}-reversed.{ext}`.
struct OutputName: ExpressibleByArgument, Equatable {
  private let template: String

  /// Keeps the source's name.
  static let same = OutputName(template: "{stem}.{ext}")

  private init(template: String) { self.template = template }

  init?(argument: String) {
    let rest = argument.replacing("{stem}", with: "").replacing("{ext}", with: "")
    guard !rest.contains("{"), !rest.contains("}"), !rest.hasPrefix("/"), !argument.isEmpty else { return nil }
    template = argument
  }

  var defaultValueDescription: String { template }

  /// Returns the output name. A final `{ext}` becomes `mkv` if the source's container cannot be
  /// written.
  /// - Parameters:
  ///   - path: path of the source.
  ///   - format: output format, if an option selects one: the extension is then kept.
  ///   - isFull: keeps the source's extension before `mkv`, as another output has the shorter name.
  func name(of path: String, format: String?, isFull: Bool = false) -> String {
    let name = path.lastPart
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
    let stem = dot.map { String(name[..<$0]) } ?? name
    let ending = dot.map { String(name[name.index(after: $0)...]) } ?? ""
    let isMade = format != nil || !template.hasSuffix("{ext}") || Reverser.writes(fileExtension: ending)
    let template = isMade ? template : "\(template.dropLast("{ext}".count))\(isFull ? "{ext}.mkv" : "mkv")"
    // Replace in one pass, as file names may contain braces.
    return template.split(separator: "{stem}", omittingEmptySubsequences: false).map {
      $0.replacing("{ext}", with: ending)
    }.joined(separator: stem)
  }
}
