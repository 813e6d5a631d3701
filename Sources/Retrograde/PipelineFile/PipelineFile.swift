import GStreamer
import RetrogradeEngine
import Glibc
import Paths

/// Pipeline file: a decoding half and an encoding half, which are pipelines in `gst-launch-1.0`
/// syntax, with parameters. docs/pipeline-files.md specifies the format.
public struct PipelineFile: Sendable {
  /// Position in the file. The first line and the first column have number 1.
  public struct Place: Sendable, Hashable {
    public var line: Int
    public var column: Int
  }

  /// Parameter of a pipeline file: `${name}` or `${name=default}`.
  public struct Parameter: Sendable, Hashable {
    public var name: String
    /// Default value; nil if the parameter must be set.
    public var fallback: String?
    /// Position of the parameter's first occurrence.
    public var place: Place
  }

  /// Name of the file in messages.
  public let name: String
  /// Parameters in the order of their first occurrence.
  public let parameters: [Parameter]
  /// Text of the comment at the top of the file.
  public let summary: String
  private let lines: [Line]

  enum Section: Sendable, Hashable { case setting, decoding, encoding }

  private struct Line: Sendable {
    var section: Section
    var number: Int
    /// Unmodified line of the file.
    var raw: String
    var pieces: [Piece]
  }

  private enum Piece: Sendable {
    case text(String)
    case parameter(Parameter, isQuoted: Bool)
  }

  /// - Throws: ``RetrogradeError``: `noInput` if the file can't be read; `usage`, with line and
  ///   column, if the file is invalid.
  public init(path: String) throws {
    guard let bytes = fileBytes(at: path, most: 1 << 24) else {
      throw RetrogradeError(.noInput, about: path, "\(String(cString: strerror(errno)))")
    }
    try self.init(String(pathBytes: bytes), name: path)
  }

  /// - Parameters:
  ///   - text: content of the file.
  ///   - name: name of the file in messages.
  public init(_ text: String, name: String) throws {
    self.name = name
    var parsed: [Line] = []
    var summary: [Substring] = []
    var section = Section.decoding
    var isAtTop = true
    // Windows editors write a byte order mark and CR LF.
    let lines = text.drop { $0 == "\u{FEFF}" }.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let trimmed = line.drop { $0 == " " || $0 == "\t" }
      if trimmed.hasPrefix("#") {
        if isAtTop { summary.append(trimmed.dropFirst().drop { $0 == " " }) }
        continue
      }
      if trimmed.isEmpty {
        if !summary.isEmpty { isAtTop = false }
        continue
      }
      isAtTop = false
      if trimmed == "---" {
        guard section == .decoding else {
          throw PipelineFile.failure(
            name, Place(line: index + 1, column: 1),
            "a pipeline file can contain only one line `---`, between decoding and encoding")
        }
        section = .encoding
        continue
      }
      let isSetting = trimmed.hasPrefix("@")
      parsed.append(
        Line(
          section: isSetting ? .setting : section, number: index + 1, raw: String(line),
          pieces: try PipelineFile.pieces(line, index + 1, name, isSetting: isSetting)))
    }
    guard section == .encoding else {
      throw PipelineFile.failure(
        name, Place(line: 1, column: 1),
        "there is no line --- between the half that decodes and the half that encodes")
    }
    self.summary = summary.joined(separator: " ")
    self.lines = parsed
    var known: [Parameter] = []
    for case .parameter(let parameter, _) in parsed.flatMap(\.pieces) {
      if let first = known.firstIndex(where: { $0.name == parameter.name }) {
        known[first].fallback = known[first].fallback ?? parameter.fallback
      } else {
        known.append(parameter)
      }
    }
    parameters = known
  }

  static func failure(_ name: String, _ place: Place, _ message: Message) -> RetrogradeError {
    RetrogradeError(.usage, about: "\(name):\(place.line):\(place.column)", message)
  }

  /// Splits a line into text and parameters.
  private static func pieces(_ line: Substring, _ number: Int, _ name: String, isSetting: Bool) throws -> [Piece] {
    var pieces: [Piece] = []
    var text = ""
    var quote: Character?
    var rest = line
    func place() -> Place {
      Place(line: number, column: line.distance(from: line.startIndex, to: rest.startIndex) + 1)
    }
    while let character = rest.first {
      if character == "\\", rest.count > 1, !isSetting {
        text += rest.prefix(2)
        rest = rest.dropFirst(2)
      } else if rest.hasPrefix("$${") {
        text += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        let place = place()
        guard quote != "'" else {
          throw failure(name, place, "a parameter can't be in single quotes; use double quotes, or none")
        }
        if !text.isEmpty { pieces.append(.text(text)) }
        text = ""
        let (parameter, after) = try parameter(rest, place, name)
        pieces.append(.parameter(parameter, isQuoted: quote == "\""))
        rest = after
      } else {
        if !isSetting, character == "\"" || character == "'" {
          quote = quote == nil ? character : quote == character ? nil : quote
        }
        text.append(character)
        rest = rest.dropFirst()
      }
    }
    if !text.isEmpty { pieces.append(.text(text)) }
    return pieces
  }

  private static func parameter(
    _ text: Substring, _ place: Place, _ name: String
  ) throws -> (Parameter, Substring) {
    var rest = text.dropFirst(2)
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    guard word.first?.isLetter ?? false else {
      throw failure(name, place, "this is not a parameter; write ${name} or ${name=default}")
    }
    rest = rest.dropFirst(word.count)
    var fallback: String?
    if rest.first == "=" {
      rest = rest.dropFirst()
      if rest.first == "\"" {
        var value = ""
        rest = rest.dropFirst()
        while let character = rest.first, character != "\"" {
          rest = rest.dropFirst(character == "\\" && rest.count > 1 ? 1 : 0)
          value.append(rest.removeFirst())
        }
        rest = rest.dropFirst()
        fallback = value
      } else {
        let value = rest.prefix { $0 != "}" }
        rest = rest.dropFirst(value.count)
        fallback = String(value)
      }
    }
    guard rest.first == "}" else { throw failure(name, place, "the closing } of ${\(word) is missing") }
    return (Parameter(name: String(word), fallback: fallback, place: place), rest.dropFirst())
  }
}

/// Pipeline file with values in place of its parameters.
struct ResolvedPipelines: Sendable {
  var name: String
  var decoding: String
  var encoding: String
  /// Settings from lines `@name value`, with their positions in the file.
  var settings: [(name: String, value: String, place: PipelineFile.Place)]
  /// Unmodified lines of the file, to find the position of a word for an error message.
  var lines: [(section: PipelineFile.Section, number: Int, text: String)]
}

extension PipelineFile {
  /// Replaces parameters by values. A value can't add syntax: it is quoted as needed, escaped if
  /// the property expects markup, and not searched for parameters.
  func resolved(_ values: [String: String]) throws -> ResolvedPipelines {
    if let unknown = values.keys.sorted().first(where: { key in !parameters.contains { $0.name == key } }) {
      throw RetrogradeError(
        .usage, about: name,
        parameters.isEmpty
          ? "has no parameters, but a value for \(unknown) is given"
          : "has no parameter \(unknown); the parameters are \(parameters.map(\.name).joined(separator: ", "))")
    }
    for parameter in parameters where values[parameter.name] == nil && parameter.fallback == nil {
      throw PipelineFile.failure(
        name, parameter.place, "${\(parameter.name)} has no value; add \(parameter.name)=…")
    }
    var halves: [Section: [String]] = [:]
    var result = ResolvedPipelines(name: name, decoding: "", encoding: "", settings: [], lines: [])
    for line in lines {
      var text = ""
      for piece in line.pieces {
        switch piece {
        case .text(let plain): text += plain
        case .parameter(let parameter, let isQuoted):
          let fallback = parameters.first { $0.name == parameter.name }?.fallback
          var value = values[parameter.name] ?? parameter.fallback ?? fallback ?? ""
          if line.section != .setting {
            let before = (halves[line.section, default: []] + [text]).joined(separator: "\n")
            if let place = DescriptionWords.property(atEndOf: before),
              Markup.isExpected(by: place.name, of: place.factory)
            {
              value = Markup.escaped(value)
            }
            value = isQuoted ? Description.escaped(value) : PipelineFile.word(value)
          }
          text += value
        }
      }
      result.lines.append((line.section, line.number, line.raw))
      if line.section == .setting {
        let words = text.drop { $0 != "@" }.dropFirst().split(separator: " ", maxSplits: 1)
        let value = words.count > 1 ? words[1].drop { $0 == " " } : ""
        result.settings.append(
          (String(words.first ?? ""), String(value), Place(line: line.number, column: 1)))
      } else {
        halves[line.section, default: []].append(text)
      }
    }
    result.decoding = (halves[.decoding] ?? []).joined(separator: "\n")
    result.encoding = (halves[.encoding] ?? []).joined(separator: "\n")
    return result
  }

  /// Escapes `${`, so that the text contains no parameters.
  static func literal(_ text: String) -> String { text.replacing("${", with: "$${") }

  /// Quotes the value as one word, if needed. Plain values stay unquoted, since caps accept numbers
  /// only without quotes.
  private static func word(_ value: String) -> String {
    let isPlain =
      !value.isEmpty
      && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-+./:%@".contains($0)) }
    return isPlain ? value : Description.quoted(value)
  }
}

extension ResolvedPipelines {
  /// Returns the encoding half of the pipeline file without the appsrcs in `names`, and without the
  /// elements linked after them.
  func encoding(without names: Set<String>) -> String {
    var words = DescriptionWords.all(in: encoding)
    var index = 0
    func propertiesEnd(_ start: Int) -> Int {
      words[start...].firstIndex { $0 == "!" || !$0.contains("=") } ?? words.count
    }
    while index < words.count {
      var end = words[index] == "appsrc" ? propertiesEnd(index + 1) : index
      let isUnwanted = words[index..<end].contains { word in
        names.contains { word == "name=\($0)" || word == "name=\"\($0)\"" }
      }
      if isUnwanted {
        // Also remove each following `!`, with the element or reference (such as `mux.`) after it,
        // and the properties.
        while end < words.count, words[end] == "!" { end = min(propertiesEnd(min(end + 2, words.count)), words.count) }
        words.removeSubrange(index..<end)
      } else {
        index += 1
      }
    }
    return words.joined(separator: " ")
  }

  /// Translates a GStreamer error about one half of the pipeline file. If the message of `error`
  /// quotes a word of the file, the result has the position of this word.
  func failure(_ error: GStreamerError, in section: PipelineFile.Section) -> RetrogradeError {
    let words = error.message.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
    let own = lines.filter { $0.section == section }
    for word in words {
      for line in own {
        if let found = line.text.firstRange(of: word) {
          let column = line.text.distance(from: line.text.startIndex, to: found.lowerBound) + 1
          return PipelineFile.failure(name, .init(line: line.number, column: column), Message(error.message))
            .withCode(error.kind == .missingPlugin ? .missingPlugin : .usage)
        }
      }
    }
    // Add the last line of the debug text: with GStreamer's message "Resource not found.", only
    // this line has the file name.
    let lines = error.debug?.split(separator: "\n") ?? []
    let detail = lines.count > 1 ? lines.last.map { " \($0)" } ?? "" : ""
    return PipelineFile.failure(name, .init(line: own.first?.number ?? 1, column: 1), Message(error.message + detail))
  }
}
