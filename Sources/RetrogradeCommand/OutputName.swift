import ArgumentParser
import Paths
import Retrograde

/// Pattern for output names, such as `{stem}-reversed.{ext}`.
struct OutputName: ExpressibleByArgument, Equatable {
  private let template: String

  /// Pattern that keeps the source's file name.
  static let same = OutputName(template: "{stem}.{ext}")

  private init(template: String) { self.template = template }

  init?(argument: String) {
    let rest = argument.replacing("{stem}", with: "").replacing("{ext}", with: "")
    guard !rest.contains("{"), !rest.contains("}"), !rest.hasPrefix("/"), !argument.isEmpty else { return nil }
    template = argument
  }

  var defaultValueDescription: String { template }

  /// Returns the output name. If the pattern ends in `{ext}` and the source's container cannot be
  /// written, the extension is `mkv`.
  /// - Parameters:
  ///   - path: path of the source.
  ///   - format: output format from an option; nil if the extension selects the format. With an
  ///     output format, `{ext}` always stands for the source's extension.
  ///   - isFull: true if another output would have the same name. If the extension becomes `mkv`,
  ///     the source's extension then stays before it: `a.flv.mkv`, not `a.mkv`.
  func name(of path: String, format: String?, isFull: Bool = false) -> String {
    let name = path.lastPart
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
    let stem = dot.map { String(name[..<$0]) } ?? name
    let ending = dot.map { String(name[name.index(after: $0)...]) } ?? ""
    let isMade = format != nil || !template.hasSuffix("{ext}") || Reverser.writes(fileExtension: ending)
    let template = isMade ? template : "\(template.dropLast("{ext}".count))\(isFull ? "{ext}.mkv" : "mkv")"
    // Replace in one pass, because file names may contain braces.
    return template.split(separator: "{stem}", omittingEmptySubsequences: false).map {
      $0.replacing("{ext}", with: ending)
    }.joined(separator: stem)
  }
}
