import MediaTime

/// Converts positions, such as frame numbers and chapter names, to stream time.
struct SourcePlaces {
  /// Span of the source's presentation.
  let span: TimeSpan
  /// Start of each frame; nil if the source has no frames that can be counted.
  let frames: [ClockTime]?
  let chapters: [Chapter]

  /// Converts a position to stream time.
  /// - Parameter setting: setting to name in errors; nil if the caller adds the setting's name.
  /// - Returns: stream time, possibly outside the source.
  /// - Throws: ``RetrogradeError`` of code `usage` if the source has no such chapter, or if its
  ///   frames can't be counted.
  func time(of position: SourcePosition, for setting: Setting? = nil) throws -> ClockTime {
    let asked: Message = setting.map { "\(setting: $0) \(position)" } ?? "\(position)"
    switch position {
    case .time(let time): return span.start + time
    case .beforeEnd(let time): return span.end - time
    case .frame(let frame):
      guard let frames else {
        throw RetrogradeError(
          .usage, "\(asked): the frames of this source can't be counted", remedy: "use seconds"
        )
      }
      return frame < frames.count ? frames[frame] : span.end
    case .chapter(let name):
      let all = chapters.all
      guard let chapter = all.first(where: { $0.title == name }) else {
        throw RetrogradeError(
          .usage, "\(asked): the source has no chapter of that name",
          remedy: all.isEmpty ? "it has no chapters" : "its chapters: \(all.map(\.title).joined(separator: ", "))")
      }
      return chapter.span.start
    }
  }
}

extension [Chapter] {
  /// All chapters, including nested ones.
  fileprivate var all: [Chapter] { flatMap { [$0] + $0.children.all } }
}

extension Score {
  /// Returns the legs that play the score once, without start times; ``PlaybackLegs`` computes the
  /// start times.
  /// - Throws: ``RetrogradeError`` of code `usage` if a position is not in the source, or if a part
  ///   is empty.
  func legs(_ places: SourcePlaces) throws -> [PlaybackLeg] {
    var legs: [PlaybackLeg] = []
    var held = ClockTime.zero
    for (number, step) in steps.enumerated() {
      switch step {
      case .hold(let time):
        if legs.isEmpty {
          held = held + time
        } else {
          legs[legs.count - 1].heldAfter = legs[legs.count - 1].heldAfter + time
        }
      case .stretch(let stretch):
        var leg = try stretch.leg(places, number + 1)
        (leg.heldBefore, held) = (held, .zero)
        if let joined = legs.last?.joined(with: leg) { legs[legs.count - 1] = joined } else { legs.append(leg) }
      }
    }
    guard !legs.isEmpty else { throw Score.error("the score plays nothing", "write what to play, such as 0..end") }
    return legs
  }
}

extension Score.Stretch {
  fileprivate func leg(_ places: SourcePlaces, _ number: Int) throws -> PlaybackLeg {
    func place(_ position: SourcePosition) throws -> ClockTime {
      let time = try places.time(of: position, for: .score)
      let length = places.span.duration
      if case .frame(let frame) = position, let count = places.frames?.count, frame > count {
        throw Score.error(
          "step \(number) (\(self)): there is no frame \(frame), because the source has \(count) frames",
          "to play to the end, write end")
      }
      guard (places.span.start...places.span.end).contains(time) else {
        throw Score.error(
          "step \(number) (\(self)): position \(time - places.span.start) is outside the source, which is \(length) "
            + "long",
          "for the end, write end; for a position before the end, write for example end-1")
      }
      return time
    }
    let (first, last) = (try place(from), try place(to))
    guard first != last else {
      throw Score.error(
        "step \(number) (\(self)): this part is empty, because it starts and ends at the same position",
        "to hold a frame, write hold 0.8")
    }
    var leg = PlaybackLeg(
      direction: first < last ? .forward : .backward, span: TimeSpan(start: min(first, last), end: max(first, last)),
      start: .zero)
    (leg.speed, leg.audio) = (speed, audio)
    return leg
  }
}
