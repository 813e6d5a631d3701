import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine
import Synchronization

/// Settings of encoders, and corrections of their input and output where an encoder is wrong.
extension Pipeline {
  /// Makes AAC keep left and right apart (`Quirk.avencAACMidSide`). Not in the profile of `encodebin`, which
  /// other programs that run a printed pipeline may fill with another encoder.
  func keepStereoApartInAAC() throws(GStreamerError) {
    guard Quirk.avencAACMidSide.applies else { return }
    for encoder in elements(ofFactory: "avenc_aac") { try encoder.set("aac-ms", "false") }
  }

  /// Names the colours of frames for `x264enc` whose chroma site alone is known (`Quirk.videoInfoChromaSite`).
  func keepChromaSite() {
    guard Quirk.videoInfoChromaSite.applies else { return }
    for encoder in elements(ofFactory: "x264enc") {
      encoder.firstSinkPad?.onCaps { caps, _ in caps.has("chroma-site") ? caps.withColorimetry : nil }
    }
  }

  /// Makes x265 say where chroma lies, if it is not where players expect it (ITU-T H.265, figure E.1).
  /// `x265enc` tells it nothing of that.
  /// - Parameter streams: each with its name and the caps of its frames.
  func nameChromaSite(of streams: [(name: String, caps: Caps)]) throws(GStreamerError) {
    let numbers = ["jpeg": 1, "dv": 2, "v-cosited": 3]
    for (name, caps) in streams {
      guard let number = caps.string("chroma-site").flatMap({ numbers[$0] }),
        let encoder = element(name)?.downstream.first(where: { $0.factoryName == "x265enc" })
      else { continue }
      let asked = encoder.string("option-string") ?? ""
      if asked.contains("chromaloc=") { continue }
      try encoder.set("option-string", "\(asked.isEmpty ? "" : "\(asked):")chromaloc=\(number)")
    }
  }

  /// Gives `jpegenc` frames with all the bytes that it reads (`Quirk.jpegencRowPadding`).
  func fillRowsOfJPEG() {
    guard Quirk.jpegencRowPadding.applies else { return }
    for encoder in elements(ofFactory: "jpegenc") {
      encoder.firstSinkPad?.onBuffer { buffer, pad in
        pad.caps.flatMap { try? buffer.withRepeatedEdge($0) }
      }
    }
  }

  /// Gives caps before `y4menc` a chroma site that it has a tag for, where it refuses others
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

  /// Names the variant of ProRes where `matroskamux` looks for it (`Quirk.matroskamuxProResVariant`).
  /// - Parameter streams: the names of the elements that the video comes from.
  func nameProResVariant(of streams: [String]) {
    guard Quirk.matroskamuxProResVariant.applies else { return }
    for stream in streams {
      element(stream)?.entered { $0.factoryName == "matroskamux" }?.onCaps { caps, _ in
        guard caps.mediaType == "video/x-prores", let variant = caps.string("variant") else { return nil }
        // It has no name for 4444 XQ, which has the same syntax as 4444.
        return caps.setting("format", "(string)\(variant == "4444xq" ? "4444" : variant)")
      }
    }
  }

  /// Takes the header before the first packet of `x265enc` away if the packet has one itself
  /// (`Quirk.x265encHeader`).
  func takeDoubledHeaderAway() {
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

  /// Sets the decoding times of a stream of one or two frames of `x265enc` (`Quirk.x265encFewFrames`). They need no
  /// reordering, and come out when the encoder knows that there are no others.
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

  /// Limits the time between decoding a frame and showing it to a second.
  ///
  /// x264 and x265 have as much time between the two as between the first frame and the second or third. If the first
  /// one is held, as the last one of a source whose audio is longer, that is as long: too long for players, and a
  /// muxer of MP4 counts it into the length of the film.
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
        // In the same order.
        return packet.retimed(
          pts: shown, dts: start - ClockTime(seconds: (start - decoded).seconds * share), duration: duration)
      }
    }
  }

  private static var longestDelay: ClockTime { ClockTime(seconds: 1) }
}
