import ArgumentParser
import Paths
import Retrograde

/// Pattern of mirrors' names that follow from those of their sources: `{stem}-reversed.{ext}`.
struct OutputName: ExpressibleByArgument, Equatable {
  private let template: String

  /// Names of the sources.
  static let same = OutputName(template: "{stem}.{ext}")

  private init(template: String) { self.template = template }

  init?(argument: String) {
    let rest = argument.replacing("{stem}", with: "").replacing("{ext}", with: "")
    guard !rest.contains("{"), !rest.contains("}"), !rest.hasPrefix("/"), !argument.isEmpty else { return nil }
    template = argument
  }

  var defaultValueDescription: String { template }

  /// The name of a mirror. An extension at its end is `mkv` instead where the source's container can't be written.
  /// - Parameters:
  ///   - path: of the source.
  ///   - format: the format of the mirror, if an option chooses it: then the extension stays.
  ///   - isFull: the source's own extension comes before `mkv`, as another mirror has the shorter name.
  func name(of path: String, format: String?, isFull: Bool = false) -> String {
    let name = path.lastPart
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
    let stem = dot.map { String(name[..<$0]) } ?? name
    let ending = dot.map { String(name[name.index(after: $0)...]) } ?? ""
    let isMade = format != nil || !template.hasSuffix("{ext}") || Reverser.writes(fileExtension: ending)
    let template = isMade ? template : "\(template.dropLast("{ext}".count))\(isFull ? "{ext}.mkv" : "mkv")"
    // In one pass: a name may have braces of its own.
    return template.split(separator: "{stem}", omittingEmptySubsequences: false).map {
      $0.replacing("{ext}", with: ending)
    }.joined(separator: stem)
  }
}
