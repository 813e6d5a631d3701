import ArgumentParser
import Retrograde

struct Codecs: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the codecs of this machine, with their GStreamer encoders and decoders.",
    discussion: """
      The first encoder of a codec is the default; --encoder chooses another. An encoder or decoder marked (hardware) \
      runs on a graphics card or another device.

      EXAMPLES
        retrograde codecs
        retrograde reverse in.mp4 out.mp4 --encoder openh264enc
      """)

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let codecs = CodecReport.all()
    if json { return try Terminal.print(json: codecs) }
    for codec in codecs {
      Terminal.print(codec.name.padded(to: 9) + "encoders  " + list(codec.encoders))
      Terminal.print(String(repeating: " ", count: 9) + "decoders  " + list(codec.decoders))
    }
  }

  private func list(_ elements: [CodecReport.Element]) -> String {
    elements.isEmpty
      ? "none" : elements.map { $0.name + ($0.isHardware ? " (hardware)" : "") }.joined(separator: ", ")
  }
}
