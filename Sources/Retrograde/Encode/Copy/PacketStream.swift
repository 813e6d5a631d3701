import GStreamer
import MediaTime
import Quirks
import RetrogradeEngine

/// Packets, as a pipeline gives them.
final class PacketStream: Sendable {
  private let pipeline: Pipeline
  private let sink: AppSink
  private let target: String

  /// - Parameter description: of the pipeline but for its appsink.
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

  /// The next packet; nil after the last.
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
