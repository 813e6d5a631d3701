import GStreamer
import MediaTime
import RetrogradeEngine

extension Image {
  /// Reads an image file: PNG, JPEG, or any format that GStreamer decodes. From a video, reads the
  /// first frame.
  ///
  /// - Throws: ``RetrogradeError``.
  public init(contentsOf path: String) async throws {
    self = try await Work.perform("read image") { try Image(reading: path, $0.cancellation) }
  }

  init(reading path: String, _ cancellation: Cancellation) throws {
    let source = try Source(path, resources: Resources(), cancellation: cancellation)
    do {
      let demuxer = source.facts.demuxer.map { "\($0) ! " } ?? ""
      let pipeline = try Pipeline(
        "\(source.sourceDescription) ! \(demuxer)decodebin ! videoflip video-direction=auto ! videoconvert ! "
          + "video/x-raw,format=BGRA,pixel-aspect-ratio=1/1 ! appsink name=image sync=false max-buffers=1")
      pipeline.plugOnlyMedia()
      defer { pipeline.set(.null) }
      let sink = try pipeline.appSink("image")
      pipeline.set(.playing)
      while !cancellation.isCancelled {
        if let sample = sink.pull(timeout: ClockTime(nanoseconds: 50_000_000)) {
          let pixels = try sample.buffer.withBytes { Array($0) }
          try self.init(width: sample.caps?.int("width") ?? 0, height: sample.caps?.int("height") ?? 0, pixels: pixels)
          return
        }
        if case .failed(let error)? = pipeline.nextMessage() { throw error }
        if sink.isEndOfStream { break }
      }
    } catch let error as GStreamerError {
      throw RetrogradeError.reading(path, error)
    }
    try cancellation.check()
    throw RetrogradeError(.damagedInput, about: path, "contains no readable image")
  }
}
