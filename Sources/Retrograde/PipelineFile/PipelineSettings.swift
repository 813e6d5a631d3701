import GStreamer
import MediaTime
import RetrogradeEngine

/// Settings of a pipeline file, from its lines `@name value`.
struct PipelineSettings: Sendable {
  var options: ReverseOptions
  /// Tags that replace the source's tags; nil: keep the source's tags.
  var tags: TagList?
  var orientation: String?

  /// - Parameter options: options for settings that the file lacks.
  /// - Throws: ``RetrogradeError`` of code `usage`, with the position of the first invalid line.
  init(_ pipelines: ResolvedPipelines, _ options: ReverseOptions) throws {
    self.options = options
    for (name, value, place) in pipelines.settings {
      func failure(_ why: Message) -> RetrogradeError { PipelineFile.failure(pipelines.name, place, why) }
      guard let entry = PipelineSettings.entries.first(where: { $0.name == name }) else {
        let forms = PipelineSettings.entries.map { "@\($0.name) \($0.values)" }
        throw failure("there is no setting @\(name); use \(forms.joined(separator: ", "))")
      }
      guard try entry.take(value, &self) else {
        throw failure("@\(name) can't be \(value); use \(entry.values)")
      }
    }
  }

  init(options: ReverseOptions, orientation: String? = nil) {
    self.options = options
    self.orientation = orientation
  }

  /// Lines `@name value` for all printable settings that differ from their defaults.
  var lines: [String] {
    PipelineSettings.entries.compactMap { entry in entry.text(self).map { "@\(entry.name) \($0)" } }
  }

  /// One kind of setting, with its parser and printer.
  private struct Entry: Sendable {
    let name: String
    /// Valid values, for messages.
    let values: String
    /// Parses a value and sets it; returns false if the value is invalid.
    let take: @Sendable (String, inout PipelineSettings) throws -> Bool
    /// Prints the value; nil if the setting has its default value, or is never printed.
    var text: @Sendable (PipelineSettings) -> String? = { _ in nil }
  }

  private static func playback<Value>(
    _ name: String, _ values: String,
    _ property: any WritableKeyPath<PlaybackOptions, Value> & Sendable,
    read: @escaping @Sendable (String) throws -> Value?,
    text: @escaping @Sendable (PlaybackOptions) -> String?
  ) -> Entry {
    Entry(
      name: name, values: values,
      take: { value, settings in
        guard let value = try read(value) else { return false }
        settings.options.playback[keyPath: property] = value
        return true
      }, text: { text($0.options.playback) })
  }

  private static func seconds(_ text: String, upTo most: Double) -> ClockTime? {
    Double(text).flatMap { (0...most).contains($0) ? .seconds($0) : nil }
  }

  /// Returns the raw values of all cases, joined by `|`, for messages.
  private static func texts<Value: RawRepresentable & CaseIterable>(of: Value.Type) -> String
  where Value.RawValue == String {
    Value.allCases.map(\.rawValue).joined(separator: "|")
  }

  private static let entries: [Entry] = [
    playback(
      "loop", texts(of: Loop.self), \.loop, read: { Loop(rawValue: $0) },
      text: { $0.loop == .reverse ? nil : $0.loop.rawValue }),
    playback(
      "score", "SCORE", \.score, read: { try Score(parsing: $0) },
      text: { $0.score.map { "\($0)" } }),
    playback(
      "joint", "SECONDS", \.joint, read: { seconds($0, upTo: 10) },
      text: { $0.joint.map { "\($0.seconds)" } }),
    playback(
      "dissolve", "SECONDS", \.dissolve, read: { seconds($0, upTo: 60) },
      text: { $0.dissolve > .zero ? "\($0.dissolve.seconds)" : nil }),
    playback(
      "interpolate", texts(of: PlaybackOptions.Interpolation.self), \.interpolation,
      read: { PlaybackOptions.Interpolation(rawValue: $0) }, text: { $0.interpolation?.rawValue }),
    playback(
      "pitch", "follow|keep", \.keepsPitch, read: { ["follow": false, "keep": true][$0] },
      text: { $0.keepsPitch ? "keep" : nil }),
    playback(
      "count", "N", \.count,
      read: { Int($0).flatMap { PlaybackLegs.counts.contains($0) ? $0 : nil } },
      text: { $0.count == 1 ? nil : "\($0.count)" }),
    playback(
      "seam", "keep|drop", \.dropsSeam, read: { ["keep": false, "drop": true][$0] },
      text: { $0.dropsSeam.map { $0 ? "drop" : "keep" } }),
    playback(
      "timing", texts(of: Timing.self), \.timing, read: { Timing(rawValue: $0) },
      text: { $0.timing == .mirror ? nil : $0.timing.rawValue }),
    playback(
      "fps", "RATE", \.frameRate, read: { FrameRate(parsing: $0) },
      text: { $0.frameRate.map { "\($0)" } }),
    playback(
      "start", "POSITION", \.start, read: { SourcePosition(parsing: $0) },
      text: { $0.start.map { "\($0)" } }),
    playback(
      "end", "POSITION", \.end, read: { SourcePosition(parsing: $0) }, text: { $0.end.map { "\($0)" } }),
    playback(
      "chapters", "keep|drop", \.streams,
      read: { text -> StreamSelection?? in
        switch text {
        case "keep": .some(nil)
        case "drop": .played
        default: nil
        }
      },
      text: { $0.wantsChapters ? nil : "drop" }),
    // Not printed: the memory limit depends on the machine that runs the file.
    Entry(
      name: "memory", values: "SIZE",
      take: { value, settings in
        guard let size = ByteCount(parsing: value) else { return false }
        settings.options.resources.memory = size
        return true
      }),
    Entry(
      name: "encoder", values: "ELEMENT",
      take: { value, settings in
        settings.options.encoding.encoder = value
        return Registry.has(value)
      }, text: { $0.options.encoding.encoder }),
    Entry(
      name: "tags", values: "TAGLIST",
      take: { value, settings in
        settings.tags = TagList(value)
        return settings.tags != nil
      }),
    Entry(
      name: "orientation", values: "TAG",
      take: { value, settings in
        settings.orientation = value
        return true
      }, text: { $0.orientation }),
  ]
}
