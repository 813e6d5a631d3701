import ArgumentParser
import Paths

/// What mirrors are called whose names follow from those of their sources: `{stem}-reversed.{ext}`.
struct OutputName: ExpressibleByArgument, Equatable {
  private let template: String

  /// As the sources.
  static let same = OutputName(template: "{stem}.{ext}")

  private init(template: String) { self.template = template }

  init?(argument: String) {
    let rest = argument.replacing("{stem}", with: "").replacing("{ext}", with: "")
    guard !rest.contains("{"), !rest.contains("}"), !rest.hasPrefix("/"), !argument.isEmpty else { return nil }
    template = argument
  }

  var defaultValueDescription: String { template }

  /// - Parameter path: of the source.
  func name(of path: String) -> String {
    let name = path.lastPart
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
    let stem = dot.map { String(name[..<$0]) } ?? name
    let ending = dot.map { String(name[name.index(after: $0)...]) } ?? ""
    // In one pass: a name may have braces of its own.
    return template.split(separator: "{stem}", omittingEmptySubsequences: false).map {
      $0.replacing("{ext}", with: ending)
    }.joined(separator: stem)
  }
}
