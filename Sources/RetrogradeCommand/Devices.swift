import ArgumentParser
import Retrograde

struct Devices: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the cameras, screens and microphones that `capture` can record from.",
    discussion: """
      Give the number, name or path of a device to `retrograde capture` as --device or --microphone. The elements \
      printed under each device can be used with `retrograde capture --source` and with gst-launch-1.0.
      """)

  @Flag(help: "Print JSON.")
  var json = false

  private struct Entry: Codable {
    var kind: Device.Kind
    var number: Int
    var name: String
    var source: String
    var caps: String?
  }

  func run() throws {
    let devices = try Device.all()
    let entries = Device.Kind.allCases.flatMap { kind in
      devices.filter { $0.kind == kind }.enumerated().map { number, device in
        Entry(kind: kind, number: number, name: device.name, source: device.source, caps: device.caps?.description)
      }
    }
    if json {
      try Terminal.print(json: entries)
      return
    }
    for kind in Device.Kind.allCases {
      let own = entries.filter { $0.kind == kind }
      Terminal.print(kind == .video ? "Cameras and screens" : "Microphones")
      if own.isEmpty { Terminal.print("  none") }
      for entry in own {
        Terminal.print("  \(entry.number)  \(entry.name)")
        Terminal.print("     \(entry.source)")
      }
    }
  }
}
