import GStreamer
import Quirks

/// Settings of encoders, and changes to frames and caps before those that take them wrong.
extension Pipeline {
  /// Has AAC keep left and right apart (`Quirk.avencAACMidSide`). Not in the profile of `encodebin`, which other
  /// programs that run a printed pipeline may fill with another encoder.
  func keepStereoApartInAAC() throws(GStreamerError) {
    guard Quirk.avencAACMidSide.applies else { return }
    for encoder in elements(ofFactory: "avenc_aac") { try encoder.set("aac-ms", "false") }
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
}
