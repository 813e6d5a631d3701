import GStreamer
import MediaTime

/// Error for a test pipeline that does not end in time.
struct PipelineHang: Error {}

/// Runs a pipeline, in `gst-launch-1.0` syntax, to its end.
package func run(pipeline description: String) throws {
  let pipeline = try Pipeline(description)
  defer { pipeline.set(.null) }
  pipeline.set(.playing)
  while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 120)) {
    if case .endOfStream = message { return }
    if case .failed(let error) = message { throw error }
  }
  throw PipelineHang()
}
