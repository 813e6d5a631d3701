import Glibc
@testable import Images

enum ImageTargets {
  static func apng(_ bytes: [UInt8]) {
    guard let animation = APNGFrames(bytes), animation.width * animation.height <= 1 << 16 else { return }
    var canvas = [UInt8](repeating: 0, count: animation.width * animation.height * 4)
    for frame in animation.frames.prefix(4) {
      precondition(APNGFrames.isPNG(frame.png))
      let pixels = [UInt8](repeating: 0x7F, count: frame.width * frame.height * 4)
      APNGFrames.draw(pixels, of: frame, on: &canvas, width: animation.width)
      if frame.disposal == 1 { APNGFrames.clear(frame, on: &canvas, width: animation.width) }
      var chunks = APNGChunks()
      _ = try? frame.png.withUnsafeBytes { try chunks.frame($0, milliseconds: Int(frame.milliseconds)) }
    }
  }

  static func webp(_ bytes: [UInt8]) {
    // Skip large canvases: `AnimationReader` refuses canvases that exceed the memory budget.
    guard let canvas = WebPFrames.canvas(bytes), canvas.width * canvas.height <= 1 << 18 else { return }
    _ = try? WebPFrames(bytes)?.read { pixels, number in
      precondition(pixels.count == canvas.width * canvas.height * 4 && pixels.allSatisfy { $0 >= 0 } && number >= 0)
    }
  }

  /// Writes a GIF from frames of arbitrary colours and times.
  static func gif(_ bytes: [UInt8]) {
    var draw = Draw(bytes)
    let (width, height) = (draw.number(1...24), draw.number(1...24))
    let times = (0..<4).map { _ in draw.number(0...1 << 20) }
    let rest = draw.remainder()
    guard !rest.isEmpty else { return }
    let frames = (0..<4).map { number in (0..<width * height * 4).map { rest[($0 * (number + 1)) % rest.count] } }
    do {
      let builder = try Palette.Builder()
      for frame in frames { try frame.withUnsafeBytes { try builder.add($0, width: width, height: height) } }
      let palette = try Palette(builder)
      let file = try GIFFile(ScratchFile.path([]), width: width, height: height, palette: palette)
      for (frame, time) in zip(frames, times) {
        let values = try frame.withUnsafeBytes { try palette.map($0, over: nil, width: width, height: height) }
        try file.add(values, centiseconds: time, isWhole: time & 1 == 1)
      }
      try file.close()
    } catch {}
  }
}
