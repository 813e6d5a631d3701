import GStreamer
import MediaTime

extension DecodedMedia {
  /// Returns the bytes of every buffer that a pipeline outputs, in order.
  /// - Parameter description: the pipeline without its appsink.
  package static func buffers(of description: String) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    try drain(Pipeline("\(description) ! appsink name=sink sync=false")) { sample in
      found.append(try sample.buffer.withBytes { Array($0) })
    }
    return found
  }

  static func drain(_ pipeline: Pipeline, _ body: (Sample) throws -> Void) throws {
    let sink = try pipeline.appSink("sink")
    pipeline.set(.playing)
    defer { pipeline.set(.null) }
    while true {
      if let sample = sink.pull(timeout: ClockTime(nanoseconds: 200_000_000)) {
        try body(sample)
      } else if sink.isEndOfStream {
        return
      } else if case .failed(let error)? = pipeline.nextMessage() {
        throw error
      }
    }
  }
}
