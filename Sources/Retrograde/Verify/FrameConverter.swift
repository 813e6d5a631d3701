import GStreamer
import MediaTime
import RetrogradeEngine

/// Turns raw frames into another form, one at a time, in a pipeline of its own.
final class FrameConverter {
  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink
  private let cancellation: Cancellation
  private var caps: Caps

  /// - Parameters:
  ///   - caps: of the frames that are given.
  ///   - preparation: what becomes of them first, in `gst-launch-1.0` syntax.
  ///   - orientation: GST_TAG_IMAGE_ORIENTATION, by which they are turned upright; nil: they are left as they are.
  ///   - form: the caps of what comes out, in caps syntax; an area of several pixels becomes their mean.
  init(_ caps: Caps, _ preparation: [String] = [], orientation: String?, to form: String, _ cancellation: Cancellation)
    throws
  {
    let turn = orientation.flatMap { EncodingDescription.directions[$0] }.map { "videoflip video-direction=\($0) ! " }
    let prepared = preparation.map { "\($0) ! " }.joined()
    // Sides of one pixel are stretched, so that shape does not matter here.
    pipeline = try Pipeline(
      "appsrc name=in format=time block=true max-buffers=1 ! \(prepared)videoconvert dither=none ! \(turn ?? "")"
        + "videoscale method=bilinear2 add-borders=false ! videoconvert dither=none ! capsfilter caps=\(Description.quoted(form)) ! "
        + "appsink name=out sync=false enable-last-sample=false max-buffers=1")
    source = try pipeline.appSource("in")
    sink = try pipeline.appSink("out")
    self.caps = caps
    self.cancellation = cancellation
    source.setCaps(caps.withColorimetry)
    pipeline.set(.playing)
  }

  deinit { pipeline.set(.null) }

  /// - Throws: ``GStreamerError``, where the frame can't be converted.
  func convert(_ frame: Buffer, _ caps: Caps) throws -> Buffer {
    if !caps.isEqual(self.caps) {
      source.setCaps(caps.withColorimetry)
      self.caps = caps
    }
    guard source.push(frame) else { throw failure }
    while !sink.isEndOfStream {
      try cancellation.check()
      if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) { return sample.buffer }
      if case .failed(let error)? = pipeline.nextMessage() { throw error }
    }
    throw failure
  }

  private var failure: GStreamerError {
    while let message = pipeline.nextMessage() {
      if case .failed(let error) = message { return error }
    }
    return GStreamerError(kind: .other, element: nil, message: "frames can't be compared", debug: nil)
  }
}

extension Caps {
  /// With the colours that GStreamer takes video for that does not say (`set_default_colorimetry` in video-info.c): videoconvert
  /// 1.22 makes other greys of it than of video that says the same.
  fileprivate var withColorimetry: Caps {
    guard !has("colorimetry"), !isRGB else { return self }
    return setting("colorimetry", (int("height") ?? 0) > 576 ? "bt709" : "bt601")
  }
}
