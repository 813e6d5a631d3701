package import GStreamer
import MediaTime
import Synchronization

/// Converts raw frames to another format, one at a time, in a separate pipeline.
package final class FrameConverter: Sendable {
  private let pipeline: Pipeline
  private let source: AppSource
  private let sink: AppSink
  private let cancellation: Cancellation
  private let caps: Mutex<Caps>

  /// - Parameters:
  ///   - caps: caps of the input frames.
  ///   - elements: elements that the frames pass through, in `gst-launch-1.0` syntax. For each
  ///     input frame, they must immediately output a frame with the same timestamp.
  ///   - form: output caps, in caps syntax.
  package init(_ caps: Caps, _ elements: [String], to form: String, _ cancellation: Cancellation) throws {
    let chain = elements.map { "\($0) ! " }.joined()
    pipeline = try Pipeline(
      "appsrc name=in format=time block=true max-buffers=1 ! \(chain)videoconvert dither=none n-threads=2 ! "
        + "capsfilter caps=\(Description.quoted(form)) ! "
        + "appsink name=out sync=false enable-last-sample=false max-buffers=1")
    source = try pipeline.appSource("in")
    sink = try pipeline.appSink("out")
    self.caps = Mutex(caps)
    self.cancellation = cancellation
    source.setCaps(caps.withUsedChromaSite.withColorimetry)
    pipeline.set(.playing)
  }

  deinit { pipeline.set(.null) }

  /// Converts a frame. Call it from one thread at a time.
  /// - Throws: ``GStreamerError`` if the frame can't be converted.
  package func convert(_ frame: Buffer, _ caps: Caps) throws -> Buffer {
    let isNew = self.caps.withLock { known in
      defer { known = caps }
      return !caps.isEqual(known)
    }
    if isNew { source.setCaps(caps.withUsedChromaSite.withColorimetry) }
    guard source.push(frame) else { throw failure }
    var idle = IdleTime()
    while !sink.isEndOfStream, idle.length < FrameConverter.stall {
      try cancellation.check()
      if let sample = sink.pull(timeout: FrameConverter.step) {
        // An element may split a frame into several output frames, one per field. Return only the
        // one with the input frame's timestamp.
        if sample.buffer.pts == frame.pts { return sample.buffer }
        continue
      }
      if case .failed(let error)? = pipeline.nextMessage() { throw error }
      idle.add(FrameConverter.step, count: 0)
    }
    throw failure
  }

  private static let step = ClockTime(nanoseconds: 100_000_000)
  /// Time after which a frame without output counts as lost.
  private static let stall = ClockTime(seconds: 30)

  private var failure: GStreamerError {
    while let message = pipeline.nextMessage() {
      if case .failed(let error) = message { return error }
    }
    return GStreamerError(kind: .other, element: nil, message: "frames can't be converted", debug: nil)
  }
}

extension Caps {
  /// Caps with a colorimetry. If the video specifies none, GStreamer's assumption is used
  /// (`set_default_colorimetry` in video-info.c; `Quirk.videoconvertUnsaidColorimetry`).
  package var withColorimetry: Caps {
    guard !has("colorimetry"), !isRGB else { return self }
    // Grey frames have the full colour range.
    if string("format")?.hasPrefix("GRAY") ?? false { return setting("colorimetry", "1:4:0:0") }
    return setting("colorimetry", isHighDefinition ? "bt709" : "bt601")
  }

  /// Caps with the colour range that players assume, because GStreamer's converter assumes the full
  /// range if the range is unknown.
  package var withRange: Caps {
    guard let colours = withColorimetry.string("colorimetry"), !isRGB else { return self }
    return withUsedChromaSite.setting("colorimetry", colours.hasPrefix("0:") ? "2" + colours.dropFirst() : colours)
  }

  /// Caps with the chroma site that GStreamer's converter uses. If the caps declare no colorimetry
  /// (as for DV video), the converter ignores a declared chroma site (`set_default_colorimetry`).
  fileprivate var withUsedChromaSite: Caps {
    guard has("chroma-site"), !has("colorimetry"), !isRGB else { return self }
    return setting("chroma-site", "(string)\(isHighDefinition ? "mpeg2" : "none")")
  }
}
