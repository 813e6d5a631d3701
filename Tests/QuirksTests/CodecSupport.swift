import Foundation
import GStreamer
import MediaTime
import Testing

/// Runs a pipeline to its end, and returns all GStreamer samples that it outputs.
/// - Parameter description: the pipeline without its appsink.
/// - Throws: the error that ended the pipeline, or an error after 20 seconds without output.
func samples(of description: String) throws -> [Sample] {
  let pipeline = try Pipeline("\(description) ! appsink name=sink sync=false")
  defer { pipeline.set(.null) }
  return try samples(of: pipeline)
}

/// Runs a pipeline to its end, and returns all GStreamer samples that reach its appsink `sink`.
/// - Throws: the error that ended the pipeline, or an error after 20 seconds without output.
func samples(of pipeline: Pipeline) throws -> [Sample] {
  let sink = try pipeline.appSink("sink")
  pipeline.set(.playing)
  var found: [Sample] = []
  var idle = 0
  while idle < 100 {
    if let sample = sink.pull(timeout: ClockTime(nanoseconds: 200_000_000)) {
      found.append(sample)
      idle = 0
    } else if sink.isEndOfStream {
      // An error also ends the stream.
      if let error = pipeline.pendingFailure { throw error }
      return found
    } else if case .failed(let error)? = pipeline.nextMessage() {
      throw error
    } else {
      idle += 1
    }
  }
  throw CocoaError(.featureUnsupported)
}

/// Returns all bytes that a pipeline outputs.
/// - Parameter description: the pipeline without its appsink.
func bytes(of description: String) throws -> [UInt8] {
  try samples(of: description).flatMap { try $0.buffer.withBytes { Array($0) } }
}

/// Returns true if a pipeline ends with an error, or outputs nothing for 20 seconds.
/// - Parameter description: the pipeline without its appsink.
func fails(_ description: String) -> Bool { (try? samples(of: description)) == nil }

/// Returns the caps of the first buffer that a pipeline outputs.
/// - Parameter description: the pipeline without its appsink.
func caps(of description: String) throws -> Caps { try #require(samples(of: description).first?.caps) }
