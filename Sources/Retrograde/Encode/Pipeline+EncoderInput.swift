import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine
import Synchronization

/// Encoder settings, and workarounds for errors in encoders' input and output.
extension Pipeline {
  /// Disables mid/side stereo in `avenc_aac`, which would mix the channels
  /// (`Quirk.avencAACMidSide`). The property is set here, not in the encoding profile, because
  /// another program may run the printed pipeline with an encoder that lacks the property.
  func keepStereoApartInAAC() throws(GStreamerError) {
    guard Quirk.avencAACMidSide.applies else { return }
    for encoder in elements(ofFactory: "avenc_aac") { try encoder.set("aac-ms", "false") }
  }

  /// Adds the default colorimetry to the caps before `x264enc` if the caps have only a chroma site.
  /// Without colorimetry, the stream would declare a wrong chroma site
  /// (`Quirk.videoInfoChromaSite`).
  func keepChromaSite() {
    guard Quirk.videoInfoChromaSite.applies else { return }
    for encoder in elements(ofFactory: "x264enc") {
      encoder.firstSinkPad?.onCaps { caps, _ in caps.has("chroma-site") ? caps.withColorimetry : nil }
    }
  }

  /// Keeps the colour matrix in VP9, which `vp9enc` writes only with a standard's own transfer
  /// function and primaries (`Quirk.vp9encMatrix`). The muxer gets the frames' colorimetry.
  func keepMatrixOfVP9() {
    guard Quirk.vp9encMatrix.applies else { return }
    // Transfer function and primaries of BT.709, BT.601, SMPTE 240M and BT.2020, by matrix.
    let standards = [3: "5:1", 4: "16:4", 5: "6:5", 6: "11:7"]
    for encoder in elements(ofFactory: "vp9enc") {
      let own = Mutex<String?>(nil)
      encoder.firstSinkPad?.onCaps { caps, _ in
        let codes = caps.colourCodes ?? []
        let standard = codes.count == 4 ? standards[codes[1]] : nil
        own.withLock { $0 = standard == nil ? nil : caps.string("colorimetry") }
        return standard.map { caps.setting("colorimetry", "(string)\(codes[0]):\(codes[1]):\($0)") }
      }
      encoder.staticPad("src")?.onCaps { caps, _ in
        own.withLock { $0 }.map { caps.setting("colorimetry", "(string)\($0)") }
      }
    }
  }

  /// Sets x265's chroma location if the frames do not have the default location (ITU-T H.265,
  /// figure E.1). `x265enc` itself does not pass the location from the caps to x265.
  /// - Parameter streams: appsrc name and frame caps of each stream.
  func nameChromaSite(of streams: [(name: String, caps: Caps)]) throws(GStreamerError) {
    let numbers = ["jpeg": 1, "dv": 2, "v-cosited": 3]
    for (name, caps) in streams {
      guard let number = caps.string("chroma-site").flatMap({ numbers[$0] }) else { continue }
      try setOption("chromaloc", "\(number)", of: "x265enc", after: name)
    }
  }

  /// Sets the HDR10 metadata of x264's stream. `x264enc` does not pass the metadata from the caps to
  /// x264, as `x265enc` does.
  /// - Parameter streams: appsrc name and frame caps of each stream.
  func nameLight(of streams: [(name: String, caps: Caps)]) throws(GStreamerError) {
    for (name, caps) in streams {
      if let display = caps.masteringDisplay {
        // x264 takes the primaries as green, blue, red; the caps as red, green, blue.
        let places = [("G", 2), ("B", 4), ("R", 0), ("WP", 6), ("L", 8)]
        let values = places.map { "\($0)(\(display[$1]),\(display[$1 + 1]))" }.joined()
        try setOption("mastering-display", values, of: "x264enc", after: name)
      }
      if let light = caps.string("content-light-level")?.split(separator: ":"), light.count == 2 {
        try setOption("cll", light.joined(separator: ","), of: "x264enc", after: name)
      }
    }
  }

  /// Adds an option to an encoder's `option-string`, unless the user has set that option.
  /// - Parameters:
  ///   - factory: encoders of other factories are left as they are.
  ///   - name: name of the stream's appsrc.
  private func setOption(
    _ option: String, _ value: String, of factory: String, after name: String
  ) throws(GStreamerError) {
    guard let encoder = element(name)?.downstream.first(where: { $0.factoryName == factory }) else { return }
    let asked = encoder.string("option-string") ?? ""
    if asked.contains("\(option)=") { return }
    try encoder.set("option-string", "\(asked.isEmpty ? "" : "\(asked):")\(option)=\(value)")
  }

  /// Pads the rows of frames for `jpegenc`, which reads beyond the end of each row
  /// (`Quirk.jpegencRowPadding`).
  func fillRowsOfJPEG() {
    guard Quirk.jpegencRowPadding.applies else { return }
    for encoder in elements(ofFactory: "jpegenc") {
      encoder.firstSinkPad?.onBuffer { buffer, pad in
        pad.caps.flatMap { try? buffer.withRepeatedEdge($0) }
      }
    }
  }

  /// Sets a chroma site that `y4menc` has a tag for, since `y4menc` refuses other chroma sites
  /// (`Quirk.y4mencChromaSite`).
  func nameY4MChromaSite() {
    guard Quirk.y4mencChromaSite.applies else { return }
    for encoder in elements(ofFactory: "y4menc") {
      encoder.firstSinkPad?.onCaps { caps, _ in
        let tagged = caps.string("format") == "I420" ? ["none", "jpeg", "mpeg2", "dv"] : ["none"]
        let site = caps.string("chroma-site")
        return site.map(tagged.contains) ?? false ? nil : caps.setting("chroma-site", "none")
      }
    }
  }

  /// Sets the field order in the flags of frames for `y4menc`, which ignores the order in the caps
  /// (`Quirk.y4mencFieldOrder`).
  func nameY4MFieldOrder() {
    guard Quirk.y4mencFieldOrder.applies else { return }
    for encoder in elements(ofFactory: "y4menc") {
      encoder.firstSinkPad?.onBuffer { buffer, pad in pad.caps.flatMap { buffer.withFieldOrder(of: $0) } }
    }
  }

  /// Swaps the two views of stereoscopic video in the caps for `mp4mux` and `qtmux`
  /// (`Quirk.qtmuxViewOrder`).
  /// - Parameter streams: names of the videos' appsrcs.
  func nameViewOrder(of streams: [String]) {
    guard Quirk.qtmuxViewOrder.applies else { return }
    for stream in streams {
      element(stream)?.entered { ["mp4mux", "qtmux"].contains($0.factoryName) }?.onCaps { caps, _ in
        guard caps.stereoLayout != nil else { return nil }
        let flags = caps.isRightViewFirst ? 0 : 1
        return caps.setting("multiview-flags", "(GstVideoMultiviewFlagsSet)\(flags):ffffffff")
      }
    }
  }

  /// Sets the caps field in which `matroskamux` expects the ProRes variant
  /// (`Quirk.matroskamuxProResVariant`).
  /// - Parameter streams: names of the videos' appsrcs.
  func nameProResVariant(of streams: [String]) {
    guard Quirk.matroskamuxProResVariant.applies else { return }
    for stream in streams {
      element(stream)?.entered { $0.factoryName == "matroskamux" }?.onCaps { caps, _ in
        guard caps.mediaType == "video/x-prores", let variant = caps.string("variant") else { return nil }
        // matroskamux does not know 4444 XQ, which has the same syntax as 4444.
        return caps.setting("format", "(string)\(variant == "4444xq" ? "4444" : variant)")
      }
    }
  }

  /// Removes the header that `x265enc` puts before the first packet if the packet itself contains
  /// the header (`Quirk.x265encHeader`).
  func removeDuplicateHeader() {
    guard Quirk.x265encHeader.applies else { return }
    for encoder in elements(ofFactory: "x265enc") {
      encoder.staticPad("src")?.onBuffer { packet in
        // A start code and the first byte of a video parameter set (ITU-T H.265, 7.3.1.2 and B.2).
        let start: [UInt8] = [0, 0, 1, 0x40]
        guard let rest = packet.withLastMemory(),
          let hasHeader = try? rest.withBytes({ $0.contains(start) }), hasHeader
        else { return nil }
        return rest
      }
    }
  }

  /// Sets DTS to PTS in streams of one or two frames, for which `x265enc` outputs uninitialised DTS
  /// (`Quirk.x265encFewFrames`). One or two frames need no reordering. `x265enc` outputs these
  /// frames only at the end of the stream, when their number is known.
  func setDecodingTimesOfFewFrames() {
    guard Quirk.x265encFewFrames.applies else { return }
    for encoder in elements(ofFactory: "x265enc") {
      let frames = Counter()
      encoder.firstSinkPad?.onBuffer { _, _ in
        frames.add()
        return nil
      }
      encoder.staticPad("src")?.onBuffer { packet in
        guard frames.value <= 2, let shown = packet.pts, packet.dts != shown, let duration = packet.duration else {
          return nil
        }
        return packet.retimed(pts: shown, dts: shown, duration: duration)
      }
    }
  }

  /// Shortens the time between decoding (DTS) and presentation (PTS) of the first frame to 0.1 s if
  /// that time exceeds a second.
  ///
  /// In x264 and x265, this delay equals the time from the first frame to the second or third
  /// frame. A long first frame makes the delay too long for players. The first frame is long, for
  /// example, if it was the last frame of a source whose audio is longer than the video. An MP4
  /// muxer also adds the delay to the duration.
  func limitDecodingDelay() {
    for encoder in elements(ofClass: "Encoder") {
      let first = Mutex<(shown: ClockTime, share: Double)?>(nil)
      encoder.staticPad("src")?.onBuffer { packet in
        guard let shown = packet.pts, let decoded = packet.dts, let duration = packet.duration else { return nil }
        let (start, share) = first.withLock { first in
          let known = first ?? (shown, shown - decoded > Self.longestDelay ? 0.1 / (shown - decoded).seconds : 1)
          first = known
          return known
        }
        guard share < 1, decoded < start else { return nil }
        // Scaling the decoding times keeps their order.
        return packet.retimed(
          pts: shown, dts: start - ClockTime(seconds: (start - decoded).seconds * share), duration: duration)
      }
    }
  }

  private static var longestDelay: ClockTime { ClockTime(seconds: 1) }
}

extension Caps {
  /// Fields with HDR10 metadata, and their names for users.
  static let lightFields = [
    (field: "mastering-display-info", name: "mastering display"), (field: "content-light-level", name: "light level"),
  ]

  /// True if a field of ``lightFields`` declares anything: a light level of 0 means unknown
  /// (CTA-861.3, P.1 and P.2).
  func declaresLight(_ field: String) -> Bool {
    string(field)?.split(separator: ":").contains { (Double($0) ?? 0) > 0 } ?? false
  }

  /// Ten numbers of `mastering-display-info`: x and y of red, green, blue and white (in 0.00002),
  /// and the highest and lowest luminance (in 0.0001 cd/m²).
  var masteringDisplay: [Int]? {
    let numbers = string("mastering-display-info")?.split(separator: ":").compactMap { Int($0) } ?? []
    return numbers.count == 10 ? numbers : nil
  }
}
