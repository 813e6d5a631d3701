import CGStreamer
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import RetrogradePlugin

/// Elements of this project, registered in this process.
enum Elements {
  /// True if the elements are registered. The first access registers the elements of this process,
  /// like the player in other tests. A second plugin with the same elements would take over the
  /// factories of elements that are in use.
  static let areRegistered = (try? RetrogradeElements.register()) != nil
}

/// Creates a pipeline after registering the elements.
func pipeline(_ description: String) throws -> Pipeline {
  try #require(Elements.areRegistered)
  return try Pipeline(description)
}

extension Pipeline {
  /// Returns the next GstSample; nil at the end of the stream.
  /// - Throws: the error of a failed element.
  func pull(_ sink: AppSink) throws -> Sample? {
    while true {
      if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) { return sample }
      if sink.isEndOfStream { return nil }
      if case .failed(let error)? = nextMessage() { throw error }
    }
  }
}

extension Sample {
  /// Returns the number in a GRAY8 frame that `TestMedia` wrote.
  func number() throws -> Int {
    let caps = try #require(caps)
    let (width, height) = (try #require(caps.int("width")), try #require(caps.int("height")))
    return try buffer.withBytes { bytes in
      TestMedia.number(width: width, height: height) { bytes[$1 * ((width + 3) / 4 * 4) + $0] }
    }
  }
}

/// Output of a filter.
struct Output {
  var numbers: [Int] = []
  var times: [ClockTime] = []
  var durations: [ClockTime] = []
  var caps: [Caps] = []
  var bytes: [UInt8] = []
  var isInterlacedTop: [Bool] = []
}

/// Feeds numbered frames or audio to the appsrc `in` of a pipeline, and reads from its appsink
/// `out`.
struct Exchange {
  let pipeline: Pipeline
  let source: AppSource
  let sink: AppSink

  init(_ element: String, caps: String, before: String = "", after: String = "") throws {
    pipeline = try RetrogradePluginTests.pipeline(
      "appsrc name=in format=time \(before)! \(element) ! \(after)appsink name=out sync=false async=false max-buffers=4"
    )
    source = try pipeline.appSource("in")
    sink = try pipeline.appSink("out")
    source.setCaps(try #require(Caps(caps)))
    pipeline.set(.playing)
  }

  /// Creates a grey frame of 16x16 with its number in the first two bytes.
  static func frame(_ number: Int, _ start: ClockTime?, _ duration: ClockTime?) throws -> Buffer {
    let buffer = try Buffer(size: 256) { bytes in
      for index in 0..<256 { bytes[index] = UInt8(truncatingIfNeeded: number + index) }
      bytes[0] = UInt8(number & 255)
      bytes[1] = UInt8(number >> 8)
    }
    return buffer.retimed(pts: start, duration: duration, isMirrored: false)
  }

  /// Returns all output up to the end of the stream.
  func drain() throws -> Output {
    var output = Output()
    while true {
      if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) {
        try sample.buffer.withBytes { bytes in
          if bytes.count >= 2 { output.numbers.append(Int(bytes[0]) | Int(bytes[1]) << 8) }
          output.bytes += bytes
        }
        output.times.append(sample.buffer.pts ?? ClockTime(nanoseconds: -1))
        output.durations.append(sample.buffer.duration ?? ClockTime(nanoseconds: -1))
        if let caps = sample.caps { output.caps.append(caps) }
        let flags = UnsafeMutableRawPointer(sample.buffer.raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags
        output.isInterlacedTop.append(flags & GST_VIDEO_BUFFER_FLAG_TFF.rawValue != 0)
      } else if sink.isEndOfStream {
        return output
      } else if case .failed(let error)? = pipeline.nextMessage() {
        throw error
      }
    }
  }
}

let grey = "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1"

func ms(_ value: Int) -> ClockTime { ClockTime(nanoseconds: Int64(value) * 1_000_000) }
