import ArgumentParser
import Retrograde

/// Makes a movie of two seconds from an image, with a caption that fades in.
///
///     swift run example-captioned-picture holiday.jpg "At the sea" movie.mp4
@main struct CaptionedPicture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example-captioned-picture", abstract: "Makes a movie of an image, with a caption that fades in.")

  @Argument(help: "Image file.") var image: String
  @Argument(help: "Caption at the bottom of the image.") var caption: String
  @Argument(help: "Movie to make.") var output: String

  func run() async throws {
    let picture = try await Image(contentsOf: image)
    let movie = try await MovieWriter(output, width: 640, height: 480, frameRate: 25)
    for number in 0..<50 {
      let opacity = min(1, Double(number) / 25)
      try await movie.add { context in
        context.draw(picture, in: context.bounds.fitting(picture.size))
        let text = Text(caption, font: "Serif Italic 40", color: .white.opacity(opacity), alignment: .center)
        let band = Rectangle(x: 0, y: context.size.height - 90, width: context.size.width, height: 70)
        context.fill(Path(band), with: .color(.black.opacity(opacity / 2)))
        context.draw(text, in: Rectangle(x: 20, y: band.origin.y + 8, width: band.size.width - 40, height: 60))
      }
    }
    print("\(output): \(try await movie.finish().frames) frames")
  }
}
