// A frame, shown for two seconds, with a caption that comes up.
//
//     swift run example-captioned-frame holiday.jpg "At the sea" frame.mp4
import Glibc
import Retrograde

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 3 else {
  print("usage: example-captioned-frame PICTURE CAPTION OUTPUT")
  exit(64)
}
let (frame, caption, output) = (arguments[0], arguments[1], arguments[2])
let image = try await Image(contentsOf: frame)
let movie = try await MovieWriter(output, width: 640, height: 480, frameRate: .usual)
for number in 0..<50 {
  let opacity = min(1, Double(number) / 25)
  try await movie.add { context in
    context.draw(image, in: context.bounds.fitting(image.size))
    let text = Text(caption, font: "Serif Italic 40", color: .white.opacity(opacity), alignment: .center)
    let band = Rectangle(x: 0, y: context.size.height - 90, width: context.size.width, height: 70)
    context.fill(Path(band), with: .color(.black.opacity(opacity / 2)))
    context.draw(text, in: Rectangle(x: 20, y: band.origin.y + 8, width: band.size.width - 40, height: 60))
  }
}
print("\(output): \(try await movie.finish().frames) frames")
