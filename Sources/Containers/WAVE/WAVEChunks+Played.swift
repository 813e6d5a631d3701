extension WAVEChunks {
  /// Returns the RIFF chunks for an output that plays the audio in another order.
  /// - Parameters:
  ///   - isWhole: true if all audio is played exactly once, at its original speed.
  ///   - place: maps a range of the source, in sample frames, to ranges of the output: one range
  ///     for each time that the output plays the source range. An empty range becomes empty ranges.
  /// - Returns: the RIFF chunks for the output, and the names of the source's chunks, and of parts
  ///   of chunks, that do not apply to the output.
  package func played(
    isWhole: Bool, _ place: (Range<Int>) -> [Range<Int>]
  ) -> (chunks: [Chunk], leftOut: [String]) {
    var chunks: [Chunk] = []
    var leftOut = unread
    for chunk in others {
      var (kept, lost) = (chunk, [String]())
      switch chunk.name {
      case "bext": (kept, lost) = chunk.broadcast(isWhole: isWhole)
      case "iXML": (kept, lost) = chunk.production
      case "cart": (kept, lost) = chunk.cart
      case "inst", "DISP", "CSET": break
      // The number of beats and the tempo apply to the whole file.
      case "acid" where isWhole: break
      // ID3 tags and XMP may contain markers, which would be wrong in the output.
      case "id3 ", "ID3 ": if chunk.contains("CHAP") { lost = [chunk.name.trimmed] }
      case "_PMX": if chunk.contains("startTime") { lost = ["_PMX"] }
      default: lost = [chunk.name.trimmed]
      }
      leftOut += lost
      if lost != [chunk.name.trimmed] { chunks.append(kept) }
    }
    let loops = playedLoops(place, &leftOut)
    if !info.isEmpty { chunks.append(Chunk.list("INFO", info)) }
    return (chunks + loops + playedMarkers(place, &leftOut), leftOut)
  }

  /// Returns the names of the RIFF chunks that would be lost in another container.
  /// - Parameter holdsMarkers: true if the container keeps markers as chapters.
  package func names(besidesMarkers holdsMarkers: Bool) -> [String] {
    unread + others.map(\.name.trimmed) + (sampler == nil ? [] : ["smpl"])
      + (holdsMarkers || markers.isEmpty ? [] : ["cue"])
  }

  /// Tags from the entries of `LIST INFO` that GStreamer ignores.
  var tags: [NamedTag] { info.compactMap { NamedTag(info: $0.name, $0.body) } }

  private func playedLoops(_ place: (Range<Int>) -> [Range<Int>], _ leftOut: inout [String]) -> [Chunk] {
    guard let sampler else { return [] }
    var entries: [[UInt8]] = []
    for loop in loops {
      let places = place(loop.frames).filter { $0.count == loop.frames.count && !$0.isEmpty }
      if places.isEmpty { leftOut.append("a loop in smpl") }
      for place in places {
        var entry = loop.entry
        entry.setLittleEndian(place.lowerBound, at: 8)
        entry.setLittleEndian(place.upperBound - 1, at: 12)
        entries.append(entry)
      }
    }
    var head = sampler.head
    if head.littleEndian(24) != 0 { leftOut.append("the SMPTE offset in smpl") }
    head.setLittleEndian(0, at: 24)
    head.setLittleEndian(entries.count, at: 28)
    return [Chunk(name: "smpl", body: head + entries.flatMap { $0 } + sampler.rest)]
  }

  private func playedMarkers(_ place: (Range<Int>) -> [Range<Int>], _ leftOut: inout [String]) -> [Chunk] {
    var placed: [Marker] = []
    let used = Set(markers.map(\.identifier))
    var free = 0
    for marker in markers {
      let places = place(marker.frames)
      for (number, frames) in places.enumerated() {
        var copy = marker
        copy.frames = frames
        if number > 0 {
          repeat { free += 1 } while used.contains(free)
          copy.identifier = free
        }
        placed.append(copy)
      }
    }
    guard !placed.isEmpty else { return [] }
    placed.sort { $0.frames.lowerBound < $1.frames.lowerBound }
    let cues = placed.flatMap { marker -> [UInt8] in
      let place = [UInt8].littleEndian(marker.frames.lowerBound)
      var cue = [UInt8].littleEndian(marker.identifier)
      cue += place
      cue += Array("data".utf8) + [UInt8](repeating: 0, count: 8)
      return cue + place
    }
    let texts = placed.flatMap { marker in
      marker.texts.map { text -> Chunk in
        var body = text.body
        if text.name == "ltxt", body.count >= 4 { body.setLittleEndian(marker.frames.count, at: 0) }
        return Chunk(name: text.name, body: [UInt8].littleEndian(marker.identifier) + body)
      }
    }
    return [Chunk(name: "cue ", body: .littleEndian(placed.count) + cues)]
      + (texts.isEmpty ? [] : [Chunk.list("adtl", texts)])
  }
}

extension WAVEChunks.Chunk {
  static func list(_ kind: String, _ parts: [Self]) -> Self {
    Self(name: "LIST", body: Array(kind.utf8) + parts.flatMap(\.encoded))
  }

  var encoded: [UInt8] {
    Array(name.utf8) + .littleEndian(body.count) + body + (body.count % 2 == 0 ? [] : [0])
  }

  fileprivate func contains(_ text: String) -> Bool {
    !text.isEmpty && body.firstRange(of: Array(text.utf8)) != nil
  }

  /// Returns `bext` without the fields that apply only to the source (the time reference, the UMID
  /// and, unless `isWhole`, the loudness), and the names of these fields.
  fileprivate func broadcast(isWhole: Bool) -> (Self, [String]) {
    guard body.count >= 602 else { return (self, ["bext"]) }
    var (chunk, lost) = (self, [String]())
    func clear(_ range: Range<Int>, to value: [UInt8], _ name: String) {
      let fields = Array(repeating: value, count: range.count / value.count).flatMap { $0 }
      guard chunk.body[range].contains(where: { $0 != 0 }), Array(chunk.body[range]) != fields else { return }
      chunk.body.replaceSubrange(range, with: fields)
      lost.append("\(name) in bext")
    }
    clear(338..<346, to: [0], "the time reference")
    clear(348..<412, to: [0], "the UMID")
    // 0x7FFF means not measured.
    if !isWhole { clear(412..<422, to: [0xFF, 0x7F], "the loudness") }
    return (chunk, lost)
  }

  /// `iXML` without the time reference, which applies only to the source; and the names of the lost
  /// fields.
  fileprivate var production: (Self, [String]) {
    if contains("<SYNC_POINT>") { return (self, ["iXML"]) }
    var (chunk, isChanged) = (self, false)
    for element in [
      "TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_HI", "TIMESTAMP_SAMPLES_SINCE_MIDNIGHT_LO", "BWF_TIME_REFERENCE_HIGH",
      "BWF_TIME_REFERENCE_LOW",
    ] {
      guard let start = chunk.body.firstRange(of: Array("<\(element)>".utf8))?.upperBound,
        let end = chunk.body[start...].firstRange(of: Array("</\(element)>".utf8))?.lowerBound,
        chunk.body[start..<end].contains(where: { (0x31...0x39).contains($0) })
      else { continue }
      chunk.body.replaceSubrange(start..<end, with: [0x30])
      isChanged = true
    }
    return (chunk, isChanged ? ["the time reference in iXML"] : [])
  }

  /// `cart` without its timers, which are positions in the source; and the names of the lost
  /// fields.
  fileprivate var cart: (Self, [String]) {
    let timers = 684..<748
    guard body.count >= timers.upperBound else { return (self, ["cart"]) }
    guard body[timers].contains(where: { $0 != 0 }) else { return (self, []) }
    var chunk = self
    chunk.body.replaceSubrange(timers, with: [UInt8](repeating: 0, count: timers.count))
    return (chunk, ["the timers in cart"])
  }
}

extension String {
  /// Name without padding spaces.
  fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
