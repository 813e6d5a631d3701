import FoundationEssentials
import Glibc
import RetrogradeEngine
import Paths

extension ChunkPlan.SourceIdentity {
  /// Reads the current identity of the file at `path`.
  /// - Throws: ``RetrogradeError`` of code `noInput`.
  init(_ path: String) throws {
    var info = stat()
    guard stat(path.cPath, &info) == 0 else {
      throw RetrogradeError(.noInput, about: path, "\(String(cString: strerror(errno)))")
    }
    self.init(
      path: try absolutePath(path), size: Int(info.st_size),
      modified: [info.st_mtim.tv_sec, info.st_mtim.tv_nsec])
  }
}

extension ChunkPlan {
  /// Checks that this version of the program made the plan, and that the source has not changed.
  /// - Parameter isRunning: true for checks after the run's first check; a difference then means
  ///   that the source changed during the run.
  /// - Throws: ``RetrogradeError`` that names the difference. If another version made
  ///   the plan, the code is `usage`. If the source has changed, the code is `inputOutput` if
  ///   `isRunning`, or else `usage`. If the source can't be found, the code is `noInput`.
  func checkSource(isRunning: Bool = false) throws {
    guard version == ChunkPlan.ownVersion else {
      throw RetrogradeError(
        .usage, about: output,
        "the plan was made by Retrograde \(version), but this is Retrograde \(ChunkPlan.ownVersion)",
        remedy: "resume with Retrograde \(version), or remove the work folder and start again")
    }
    let now = try SourceIdentity(source.path)
    guard now == source else {
      let what =
        now.size == source.size
        ? "the modification time differs" : "it has \(now.size) bytes instead of \(source.size)"
      throw RetrogradeError(
        isRunning ? .inputOutput : .usage, about: source.path,
        "has changed since the plan was made: \(what)",
        remedy: "remove the work folder, and start again")
    }
  }

  /// Checks that the plan has the requested source, options and output.
  /// - Throws: ``RetrogradeError`` of code `usage` that names the difference, or an error of
  ///   ``checkSource(isRunning:)``.
  func check(_ reverser: Reverser, _ output: String, in folder: String) throws {
    func refused(_ why: Message) -> RetrogradeError {
      RetrogradeError(
        .usage, about: folder, "contains the plan of a run with \(why)",
        remedy: "use another folder, or remove this one to start again")
    }
    let input = try absolutePath(reverser.input)
    guard input == source.path else { throw refused("the source \(source.path)") }
    guard output == self.output else { throw refused("the output \(self.output)") }
    try checkSource()
    let asked = Options(reverser.options)
    let (now, then) = (try asked.values, try options.values)
    let different = Set(now.keys).union(then.keys).filter { now[$0] != then[$0] }.sorted()
    guard different.isEmpty else {
      let settings = different.map { Setting(rawValue: $0) }
      throw refused("\(different.count == 1 ? "another value" : "other values") of \(Message.list(settings))")
    }
  }
}

extension ChunkPlan.Options {
  /// Values of the settings, by key path.
  fileprivate var values: [String: Value] {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      var values: [String: Value] = [:]
      func add<Group: Encodable>(_ name: String, _ group: Group) throws {
        let parts = try JSONDecoder().decode([String: Value].self, from: encoder.encode(group))
        for (key, value) in parts { values["\(name).\(key)"] = value }
      }
      try add("playback", playback)
      try add("encoding", encoding)
      try add("output", output)
      try add("lettering", lettering)
      values["subtitles"] = subtitles.map(Value.text)
      return values
    }
  }

  /// JSON value of any type, for comparison.
  fileprivate indirect enum Value: Decodable, Equatable {
    case number(Double), text(String), flag(Bool), list([Value]), group([String: Value])

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let flag = try? value.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else if let list = try? value.decode([Value].self) {
        self = .list(list)
      } else {
        self = .group(try value.decode([String: Value].self))
      }
    }
  }
}
