import Containers
import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine
import Paths

/// Encodes single frames of an output as JPEG.
struct MirrorPictures: Sendable {
  private let source: PlayableSource
  private let video: VideoSource
  private let played: PlayedFrames
  /// Indexes of the output frames that were keyframes in the source, which decode fast.
  private let keyframes: [Int]
  private let settings: SegmentedMirror.Settings
  private let name: String

  private static let heights = 16...2160

  init(
    _ source: PlayableSource, _ video: VideoSource, _ played: PlayedFrames, _ settings: SegmentedMirror.Settings,
    name: String
  ) {
    (self.source, self.video, self.played, self.settings, self.name) = (source, video, played, settings, name)
    let starts = Set(played.keyframes)
    keyframes = played.frames.indices.filter { starts.contains(played.frames[$0].source.start) }
  }

  func picture(at time: ClockTime, height: Int, isExact: Bool, _ cancellation: Cancellation) throws -> [UInt8] {
    guard Self.heights.contains(height) else {
      throw RetrogradeError(
        .usage, about: name,
        "the height of a picture must be \(Self.heights.lowerBound) to \(Self.heights.upperBound) pixels, not \(height)"
      )
    }
    let place = isExact ? place(at: time) : keyframe(near: time)
    let shown = played.frames[place].shown
    let player = VideoPlayer(
      video, source.legs, from: shown.start, to: shown.end, timing: settings.playback.timing, cancellation)
    while let frame = try player.next() {
      // Skip the previous frame, whose end may exceed `shown.start` by a rounding error.
      guard frame.shown.end > shown.start + ClockTime(nanoseconds: 1000) else { continue }
      return try encoded(frame.buffer, frame.caps, height: height, cancellation)
    }
    try cancellation.check()
    throw RetrogradeError(.damagedInput, about: name, "the frame at \(shown.start) of the output can't be decoded")
  }

  private func place(at time: ClockTime) -> Int { max(played.frames.endOfPrefix { $0.shown.start <= time } - 1, 0) }

  private func keyframe(near time: ClockTime) -> Int {
    let next = keyframes.endOfPrefix { played.frames[$0].shown.start <= time }
    let near = [next - 1, next].filter(keyframes.indices.contains).map { keyframes[$0] }
    func distance(_ place: Int) -> ClockTime {
      let start = played.frames[place].shown.start
      return max(start - time, time - start)
    }
    return near.min { distance($0) < distance($1) } ?? place(at: time)
  }

  private func encoded(
    _ frame: Buffer, _ caps: Caps, height: Int, _ cancellation: Cancellation
  ) throws -> [UInt8] {
    guard let file = TemporaryFile(in: settings.resources.spoolDirectory, mode: 0o600) else {
      throw RetrogradeError(
        .inputOutput, about: settings.resources.spoolDirectory,
        "no temporary file can be created here",
        remedy: "set TMPDIR to a folder that you may write to")
    }
    defer { if let name = file.name { unlink(name.cPath) } }
    let picture = "picture.jpg"
    let choice = try EncodingChoice(
      output: picture, in: Container.images(picture),
      .init(
        videos: [.init(raw: caps, index: video.video)], duration: source.index.presentationEnd, frameRate: 1),
      options: EncodingOptions(framing: Framing(scale: .height(height))))
    let pipeline = try EncodingPipeline(
      EncodingPipeline.Contents(
        description: EncodingDescription(path: file.path, choice: choice, videos: [nil]).text,
        videos: [.init(name: EncodingDescription.videoName(0), caps: caps)], audio: []
      ) { _ in "" }, for: name, cancellation)
    defer { pipeline.close() }
    try pipeline.start()
    try pipeline.push(frame, to: pipeline.videos[0])
    pipeline.end(pipeline.videos[0])
    _ = try pipeline.finish(.init(videos: [.init(count: 1)]))
    guard let written = RandomAccessFile(file.path), let bytes = written.read(0..<written.size) else {
      throw RetrogradeError(
        .inputOutput, about: settings.resources.spoolDirectory, "a temporary file can't be read back from this folder",
        remedy: "use another \(setting: .spoolDirectory)")
    }
    return bytes
  }
}
