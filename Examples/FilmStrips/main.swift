// Draws a clip, mirrors it, and puts frames of both on one sheet: the picture in README.md.
//
//     swift run example-film-strips strips.png
import Foundation
import Retrograde

let output = CommandLine.arguments.dropFirst().first ?? "strips.png"
let folder = FileManager.default.temporaryDirectory.appending(path: "film-strips-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
func path(_ name: String) -> String { folder.appending(path: name).path }

let seconds = 3
let frameRate = FrameRate.usual

// The clip: a ball rolls in, and dominoes fall one after the other.
var options = ReverseOptions()
options.encoding.quality = .lossless
let clip = try await MovieWriter(
  path("dominoes.mov"), width: 384, height: 256, frameRate: frameRate, options: options)
for number in 0..<(25 * seconds) {
  try await clip.add { context in
    Dominoes(time: Double(number) / 25).draw(in: context)
  }
}
try await clip.finish()

_ = try await Reverser(path("dominoes.mov"), options: options).start(to: path("seonimod.mov")).summary()

/// Numbered images, in their order.
func images(in name: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted().map { path("\(name)/\($0)") }
}

/// Evenly spaced frames of a film, first and last among them.
func frames(of film: String, count: Int) async throws -> [Image] {
  var reader = Reverser(path(film))
  reader.options.playback.loop = .forward
  _ = try await reader.start(to: path("frames of \(film)/%05d.png")).summary()
  let files = try images(in: "frames of \(film)")
  var images: [Image] = []
  for number in 0..<count {
    images.append(try await Image(contentsOf: files[number * (files.count - 1) / (count - 1)]))
  }
  return images
}

let before = try await frames(of: "dominoes.mov", count: 6)
let after = try await frames(of: "seonimod.mov", count: 6)
let sheet = try await MovieWriter(path("sheet/%d.png"), width: 1200, height: 440, frameRate: frameRate)
try await sheet.add { context in
  context.fill(.white)
  Strip(title: "dominoes.mov", frames: before).draw(in: context, top: 0)
  let command = Text(
    "$ retrograde reverse dominoes.mov seonimod.mov", font: "Monospace Bold 17", color: Color(white: 0.1),
    alignment: .center)
  context.draw(command, in: Rectangle(x: 0, y: 208, width: 1200, height: 30))
  Strip(title: "seonimod.mov", frames: after).draw(in: context, top: 238)
}
try await sheet.finish()

for image in try images(in: "sheet") {
  let url = URL(fileURLWithPath: output)
  if FileManager.default.fileExists(atPath: output) { try FileManager.default.removeItem(at: url) }
  try FileManager.default.moveItem(at: URL(fileURLWithPath: image), to: url)
}
print("\(output): \(before.count) frames of a clip, and \(after.count) of its mirror")
