import ArgumentParser
import Foundation
import Retrograde

/// Makes the image in README.md: draws a clip, reverses it, and puts frames of both on one sheet.
///
///     swift run example-film-strips strips.png
@main struct FilmStrips: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example-film-strips", abstract: "Draws the image in README.md.")

  @Argument(help: "Image to make. An existing file is replaced.") var output = "strips.png"

  func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "film-strips-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let clip = folder.appending(path: "dominoes.mov")
    let mirror = folder.appending(path: "seonimod.mov")
    let options = ReverseOptions(encoding: EncodingOptions(quality: .high))
    try await drawClip(clip, options)
    try await Reverser(clip, options: options).reverse(to: mirror)
    let before = try await frames(of: clip, count: 6)
    let after = try await frames(of: mirror, count: 6)

    let sheet = try await MovieWriter(
      folder.appending(path: "sheet/%d.png"), width: 1200, height: 440, frameRate: 25)
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
    for image in try images(in: folder.appending(path: "sheet")) {
      try Data(contentsOf: image).write(to: URL(filePath: output), options: .atomic)
    }
    print("\(output): \(before.count) frames of a clip, and \(after.count) of its mirror")
  }

  /// Draws a clip of three seconds: a ball rolls in, and dominoes fall one after the other.
  private func drawClip(_ file: URL, _ options: ReverseOptions) async throws {
    let clip = try await MovieWriter(file, width: 384, height: 256, frameRate: 25, options: options)
    for number in 0..<75 {
      try await clip.add { context in Dominoes(time: Double(number) / 25).draw(in: context) }
    }
    try await clip.finish()
  }

  /// Returns the images of a folder, sorted by name.
  private func images(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { folder.appending(path: $0) }
  }

  /// Returns `count` evenly spaced frames of a video, including the first and the last.
  private func frames(of video: URL, count: Int) async throws -> [Image] {
    let folder = video.appendingPathExtension("frames")
    let forward = ReverseOptions(playback: PlaybackOptions(loop: .forward))
    try await Reverser(video, options: forward).reverse(to: folder.appending(path: "%05d.png"))
    let files = try images(in: folder)
    var frames: [Image] = []
    for number in 0..<count {
      frames.append(try await Image(contentsOf: files[number * (files.count - 1) / (count - 1)]))
    }
    return frames
  }
}
