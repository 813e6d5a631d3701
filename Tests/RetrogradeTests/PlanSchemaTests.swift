import Containers
import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// docs/plan.schema.json describes every field of a plan, and no other field.
@Suite struct PlanSchemaTests {
  private let folder: TemporaryFolder
  private let schema: Schema

  init() throws {
    folder = try TemporaryFolder()
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    schema = try Schema(Data(contentsOf: root.appendingPathComponent("docs/plan.schema.json")))
  }

  private func plan() async throws -> [String: Any] {
    var media = TestMedia.matroska
    media.times = TestMedia.regular(30, rate: 30)
    media.video = "x264enc key-int-max=10 speed-preset=ultrafast ! h264parse"
    media.sampleCount = 48_000
    media.title = "A day"
    let text = "1\n00:00:00,100 --> 00:00:00,300\nFirst\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("in.srt")))
    var options = ReverseOptions()
    options.encoding.videoCodec = "h264"
    options.encoding.encoder = "x264enc"
    options.playback.loop = .pingPong
    options.playback.start = .time(.seconds(0.1))
    options.lettering.caption = "Once more"
    options.lettering.captionStyle = try CaptionStyle(parsing: "size=20.5, box=#00000080, outline=navy, from=0, to=0.5")
    options.encoding.framing = Framing(crop: .shape(width: 1, height: 1), scale: .fit(width: 48, height: 48))
    options.subtitles = folder.path("in.srt")
    options.output.subtitles = folder.path("out.srt")
    let source = try media.write(to: folder)
    try await Reverser(source, options: options).split(
      to: folder.path("out.mkv"), in: folder.path("work"), chunks: .about(.seconds(0.3)))
    // Adds fields that the plan of this source lacks.
    let path = folder.path("work/plan.json")
    var plan = try JSONDecoder().decode(ChunkPlan.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    let span = TimeSpan(start: .zero, end: .seconds(0.5))
    plan.chapters = [Chapter(span: span, title: "One", children: [Chapter(span: span, title: "Inner", children: [])])]
    plan.warnings = [Notice(Warning(.converted, "changed: \(setting: .frameRate)", count: 2, span: span))]
    plan.changes = [
      StoredCodecChange(
        CodecChange(kind: .video, source: "HEVC", output: "H.264", reason: "\(setting: .videoCodec) asks for it"))
    ]
    plan.mp4Tags = [MP4Tag(NamedTag(name: "SHOW_SEASON_NUMBER", text: "3"))]
    plan.videos[0].orientation = "rotate-90"
    plan.videos[0].fieldOrder = .bottomFirst
    return try #require(JSONSerialization.jsonObject(with: JSONEncoder().encode(plan)) as? [String: Any])
  }

  @Test("a plan matches its schema")
  func planMatchesSchema() async throws {
    let plan = try await plan()
    #expect(schema.faults(of: plan) == [])
    for name in plan.keys { #expect(schema.names.contains(name)) }
    var other = plan
    other["version"] = 3
    other["colour"] = "red"
    other["source"] = nil
    #expect(schema.faults(of: other).sorted() == ["/: no source", "/colour: not in the schema", "/version: no string"])
  }
}

/// The subset of JSON Schema that docs/plan.schema.json uses.
private struct Schema {
  private let root: [String: Any]

  init(_ data: Data) throws { root = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:] }

  var names: Set<String> { Set((root["properties"] as? [String: Any] ?? [:]).keys) }

  func faults(of value: Any) -> [String] { faults(of: value, root, "") }

  private func faults(of value: Any, _ schema: [String: Any], _ path: String) -> [String] {
    if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
      guard let meant = (root["$defs"] as? [String: Any])?[String(name)] as? [String: Any] else {
        return ["\(path): no \(name) is defined"]
      }
      return faults(of: value, meant, path)
    }
    if let any = schema["anyOf"] as? [[String: Any]] {
      return any.contains { faults(of: value, $0, path).isEmpty } ? [] : ["\(path): none of what it may be"]
    }
    if let values = schema["enum"] as? [NSObject] {
      return (value as? NSObject).map(values.contains) ?? false ? [] : ["\(path): \(value)"]
    }
    let type = schema["type"] as? String ?? ""
    guard isOf(type, value) else { return ["\(path): no \(type)"] }
    var found: [String] = []
    if let group = value as? [String: Any] {
      let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
      for name in schema["required"] as? [String] ?? [] where group[name] == nil {
        found.append("\(path)/: no \(name)")
      }
      for (name, part) in group {
        if let known = properties[name] ?? schema["additionalProperties"] as? [String: Any] {
          found += faults(of: part, known, "\(path)/\(name)")
        } else if schema["additionalProperties"] as? Bool == false {
          found.append("\(path)/\(name): not in the schema")
        }
      }
    }
    if let items = schema["items"] as? [String: Any] {
      for (number, part) in (value as? [Any] ?? []).enumerated() {
        found += faults(of: part, items, "\(path)/\(number)")
      }
    }
    return found
  }

  private func isOf(_ type: String, _ value: Any) -> Bool {
    switch type {
    case "object": value is [String: Any]
    case "array": value is [Any]
    case "string": value is String
    case "boolean": value is Bool
    case "number": value is Double
    case "integer": value is Int
    default: false
    }
  }
}
