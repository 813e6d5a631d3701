import MediaTime

/// Tracks of Matroska and WebM files.
enum MatroskaTrack {
  /// Returns the tracks in file order, and the details of these tracks that no output can keep.
  static func all(in file: RandomAccessFile) -> ([ContainerTrack], [ContainerDetail]) {
    // Stop at the tracks: a long video has thousands of clusters after them, and reading the
    // headers of all clusters would be slow.
    guard let segment = file.elements(in: 0..<file.size, upTo: MatroskaID.segment).last,
      segment.id == MatroskaID.segment,
      let tracks = file.elements(in: segment.body, upTo: MatroskaID.tracks).last, tracks.id == MatroskaID.tracks,
      tracks.body.count < 1 << 24,
      let bytes = file.read(tracks.body)
    else { return ([], []) }
    let entries = EBMLElement.all(in: bytes).filter { $0.id == MatroskaID.trackEntry }
      .map { EBMLElement.all(in: $0.bytes) }
    let all = entries.map { parts in
      func number(_ id: UInt32) -> Int64? { parts.first { $0.id == id }?.number }
      return ContainerTrack(
        kind: kind(ofType: number(MatroskaID.trackType)),
        disposition: Disposition(
          isDefault: number(MatroskaID.flagDefault) != 0, isForced: number(MatroskaID.flagForced) == 1),
        hasDefaultLanguage: !parts.contains { [MatroskaID.language, MatroskaID.languageBCP47].contains($0.id) },
        fieldOrder: fieldOrder(of: parts),
        number: number(MatroskaID.trackNumber).flatMap { Int(exactly: $0) },
        codecDelay: ClockTime(nanoseconds: min(number(MatroskaID.codecDelay) ?? 0, 1_000_000_000)),
        stored: entries.count == 1 ? StoredAudio(parts, in: segment.body, of: file) : nil)
    }
    return (all, entries.flatMap { details(of: $0) })
  }

  /// Returns the track numbers, by which blocks refer to tracks.
  /// - Parameter tracks: body of a `Tracks` element.
  static func numbers(in tracks: [UInt8]) -> Set<Int> {
    Set(
      EBMLElement.all(in: tracks).filter { $0.id == MatroskaID.trackEntry }.compactMap { entry in
        EBMLElement.all(in: entry.bytes).first { $0.id == MatroskaID.trackNumber }.map { Int(clamping: $0.number) }
      })
  }

  /// Returns the field order as in caps; nil for progressive video, or if not declared (RFC 9559,
  /// 5.1.4.1.28.2).
  private static func fieldOrder(of parts: [EBMLElement]) -> String? {
    let video = parts.first { $0.id == MatroskaID.video }.map { EBMLElement.all(in: $0.bytes) } ?? []
    func number(_ id: UInt32) -> Int64? { video.first { $0.id == id }?.number }
    guard number(MatroskaID.interlaced) == 1 else { return nil }
    // Codes 1 and 6 mean separate fields, 9 and 14 interleaved lines.
    return switch number(MatroskaID.fieldOrder) {
    case 1, 9: "top-field-first"
    case 6, 14: "bottom-field-first"
    default: nil
    }
  }

  private static func details(of parts: [EBMLElement]) -> [ContainerDetail] {
    let type = parts.first { $0.id == MatroskaID.trackType }?.number
    let kind = kind(ofType: type)
    guard kind != .other else {
      // Valid codec IDs are short and ASCII, so other characters are damage.
      let codec = parts.first { $0.id == MatroskaID.codec }.map { element in
        String(decoding: element.bytes.prefix(64).filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
      }
      return [ContainerDetail(track: "unsupported data (\(codec ?? "type \(type ?? 0)"))")]
    }
    let additions = parts.filter { $0.id == MatroskaID.blockAdditionMapping }.compactMap { mapping in
      name(ofAddition: EBMLElement.all(in: mapping.bytes).first { $0.id == MatroskaID.blockAddIDType }?.number ?? 0)
    }
    let video = parts.first { $0.id == MatroskaID.video }.map { EBMLElement.all(in: $0.bytes) } ?? []
    let projection = video.first { $0.id == MatroskaID.projection }.map { EBMLElement.all(in: $0.bytes) } ?? []
    let isSpherical = projection.contains { $0.id == MatroskaID.projectionType && $0.number != 0 }
    let crops = video.contains { MatroskaID.pixelCrops.contains($0.id) && $0.number != 0 }
    let layout = video.first { $0.id == MatroskaID.stereoMode }?.number ?? 0
    let views: [String] = readLayouts.contains(layout) ? [] : ["the layout of the two views (StereoMode \(layout))"]
    let turns = poses.compactMap { pose -> String? in
      // Skip yaw and pitch of a 360° projection: the report of the projection includes them.
      let isCovered = isSpherical && pose.id != MatroskaID.projectionPoseRoll
      let angle = projection.first { $0.id == pose.id }?.float ?? 0
      return isCovered || angle == 0 ? nil : "the rotation by \(angle)° (\(pose.name))"
    }
    let marks = flags.filter { flag in parts.contains { $0.id == flag.id && $0.number == 1 } }.map {
      "the flag that marks a track \($0.meaning)"
    }
    let colour = video.first { $0.id == MatroskaID.colour }.map { EBMLElement.all(in: $0.bytes) } ?? []
    func code(_ id: UInt32) -> Int? { (colour.first { $0.id == id }?.number).flatMap { Int(exactly: $0) } }
    let colours = ColourCodes.unnamed(
      matrix: code(MatroskaID.matrixCoefficients), transfer: code(MatroskaID.transferCharacteristics))
    let all =
      additions + marks + colours + (isSpherical ? ["the 360° projection (Projection)"] : [])
      + (crops ? ["the crop (PixelCrop)"] : []) + turns
    return (all + views).map { ContainerDetail($0, of: kind) }
  }

  /// Layouts of stereoscopic video that GStreamer reads (RFC 9559, 5.1.4.1.28.3;
  /// `GstMatroskaStereoMode`). 0 is video with one view.
  private static let readLayouts: Set<Int64> = [0, 1, 2, 3, 4, 5, 9, 13, 14]

  /// EBML elements for rotations of the frame, in degrees (RFC 9559, 5.1.4.1.28.44 to
  /// 5.1.4.1.28.46).
  private static let poses: [(id: UInt32, name: String)] = [
    (MatroskaID.projectionPoseYaw, "ProjectionPoseYaw"), (MatroskaID.projectionPosePitch, "ProjectionPosePitch"),
    (MatroskaID.projectionPoseRoll, "ProjectionPoseRoll"),
  ]

  /// Track flags that GStreamer neither reads nor writes, with their displayed meaning (RFC 9559,
  /// 5.1.4.1.7 to 5.1.4.1.11).
  private static let flags: [(id: UInt32, meaning: String)] = [
    (MatroskaID.flagHearingImpaired, "for the hard of hearing (FlagHearingImpaired)"),
    (MatroskaID.flagVisualImpaired, "for the visually impaired (FlagVisualImpaired)"),
    (MatroskaID.flagTextDescriptions, "with descriptions of the picture (FlagTextDescriptions)"),
    (MatroskaID.flagOriginal, "in the original language (FlagOriginal)"),
    (MatroskaID.flagCommentary, "with commentary (FlagCommentary)"),
  ]

  /// Returns the displayed name of additional block data; nil for transparency.
  /// - Parameter type: type of the data (`BlockAddIDType`, RFC 9559, 5.1.4.1.17.3, and Matroska's
  ///   registry), as a number or four letters.
  private static func name(ofAddition type: Int64) -> String? {
    switch type {
    // Transparency has a separate warning.
    case 0, 1: return nil
    case 4: return "ITU-T T.35 metadata, such as HDR10+ (BlockAddIDType 4)"
    case 121: return "the timecode (BlockAddIDType 121)"
    default:
      let letters = withUnsafeBytes(of: UInt32(truncatingIfNeeded: type).bigEndian, Array.init)
      guard letters.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
        return "additional data of packets (BlockAddIDType \(type))"
      }
      let name = String(decoding: letters, as: UTF8.self)
      return MP4Details.meanings[name] ?? "additional data of packets (\(name))"
    }
  }

  /// - Parameter type: `TrackType` (RFC 9559, 5.1.4.1.3).
  static func kind(ofType type: Int64?) -> StreamKind {
    switch type {
    case 1: .video
    case 2: .audio
    case 17: .subtitles
    default: .other
    }
  }
}
