import Glibc

/// Fuzz targets. libFuzzer provides `main`, generates bytes, and passes them to the target that
/// FUZZ_TARGET names. `scripts/fuzz` runs all targets.
enum Fuzz {
  typealias Body = @Sendable ([UInt8]) -> Void

  static let targets: [String: Body] = [
    "ebml": MatroskaTargets.elements,
    "matroska": MatroskaTargets.file,
    "movie-header": MovieTargets.write,
    "movie-times": MovieTargets.times,
    "declared": DeclaredTargets.read,
    "wave": AudioTargets.wave,
    "stored-audio": AudioTargets.stored,
    "mp3": AudioTargets.mp3,
    "audio-layout": AudioTargets.layout,
    "apng": ImageTargets.apng,
    "webp": ImageTargets.webp,
    "gif": ImageTargets.gif,
    "pipeline": TextTargets.pipeline,
    "subtitles": TextTargets.subtitles,
    "values": TextTargets.values,
    "parameter-sets": VideoTargets.parameterSets,
    "timeline": VideoTargets.timeline,
    "packets": VideoTargets.packets,
    "requests": RequestTargets.answer,
  ]

  static let target = getenv("FUZZ_TARGET").flatMap { targets[String(cString: $0)] }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let target = Fuzz.target else {
    print("FUZZ_TARGET is one of \(Fuzz.targets.keys.sorted().joined(separator: " "))")
    exit(64)
  }
  target(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
