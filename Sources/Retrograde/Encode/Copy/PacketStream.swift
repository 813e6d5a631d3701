import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine

/// Reads the packets that a pipeline outputs.
final class PacketStream: Sendable {
  private let pipeline: Pipeline
  private let sink: AppSink
  private let target: String

  /// - Parameter description: the pipeline without its appsink, in `gst-launch-1.0` syntax.
  init(_ description: String, _ target: String, prepare: (Pipeline) throws -> Void = { _ in }) throws {
    self.target = target
    do {
      pipeline = try Pipeline(
        "\(description) ! appsink name=packets sync=false async=false enable-last-sample=false max-buffers=16")
      if Quirk.h264parseDurations.applies { pipeline.keepEncodedDurations() }
      sink = try pipeline.appSink("packets")
      try prepare(pipeline)
    } catch let error as GStreamerError {
      throw RetrogradeError.writing(target, error)
    }
    pipeline.set(.playing)
  }

  /// Waits for the next packet, and returns it; nil after the last packet.
  func next(_ cancellation: Cancellation) throws -> Sample? {
    while true {
      try cancellation.check()
      if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) { return sample }
      if sink.isEndOfStream { return nil }
      if case .failed(let error)? = pipeline.nextMessage() { throw RetrogradeError.writing(target, error) }
    }
  }

  func stop() { pipeline.set(.null) }
}
