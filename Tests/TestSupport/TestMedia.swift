package import Foundation
import Containers
import GStreamer

package import Retrograde

/// Generated media. Every frame shows its number in light and dark blocks that survive lossy
/// coding, and the value of every audio sample depends on its position.
package struct TestMedia: Sendable {
  package init() {}

  package var width = 96
  package var height = 64
  /// Start of each frame, and end of the last frame.
  package var times: [ClockTime] = TestMedia.regular(60, rate: 30)
  /// Frame rate in the caps; 0/1 is variable.
  package var frameRate = "0/1"
  /// Elements between the raw frames and the muxer; nil for no video.
  package var video: String? = "x264enc key-int-max=20 bframes=2 pass=qual quantizer=18 ! h264parse"
  /// Number of audio sample frames, from `audioStart` on.
  package var sampleCount = 0
  package var audioStart = ClockTime.zero
  package var audioFormat = "S16LE"
  package var rate = 48000
  package var channels = 2
  /// Position of a click, as a sample frame; the rest of the audio is silent. nil for audio without
  /// a click.
  package var click: Int?
  /// Elements between the raw audio and the muxer.
  package var audio = "flacenc ! flacparse"
  package var muxer = "mp4mux"
  package var name = "source.mp4"
  /// Value of GST_TAG_IMAGE_ORIENTATION that is written into an MP4 or MOV file.
  package var orientation: String?
  /// Title tag of the whole file.
  package var title: String?

  /// Media in Matroska. In some short files with B-frames, mp4mux 1.22 writes an edit list that
  /// hides the last frame.
  package static var matroska: TestMedia {
    var media = TestMedia()
    media.muxer = "matroskamux"
    media.name = "source.mkv"
    return media
  }

  /// Returns media in Matroska with `frames` frames at 25 fps, which is also the rate in the caps.
  package static func matroska(frames: Int) -> TestMedia {
    var media = matroska
    media.times = regular(frames, rate: 25)
    media.frameRate = "25/1"
    return media
  }

  /// Returns media with only audio.
  /// - Parameter encoder: elements between the raw audio and the muxer.
  package static func audioOnly(
    _ name: String, _ encoder: String = "identity", muxer: String, sampleCount: Int = 48_000
  ) -> TestMedia {
    var media = TestMedia()
    media.video = nil
    (media.name, media.audio, media.muxer, media.sampleCount) = (name, encoder, muxer, sampleCount)
    return media
  }

  package static func regular(_ count: Int, rate: Int) -> [ClockTime] {
    (0...count).map { ClockTime(sampleIndex: $0, rate: rate) }
  }

  /// Reads the number painted in a frame.
  /// - Parameter luma: luma of the pixel at a position.
  package static func number(width: Int, height: Int, luma: (_ x: Int, _ y: Int) -> UInt8) -> Int {
    (0..<16).reduce(0) { number, block in
      luma((block % 4 * 2 + 1) * width / 8, (block / 4 * 2 + 1) * height / 8) > 125 ? number | 1 << block : number
    }
  }

  /// Formats that x264enc accepts on all releases. Without this list, x264enc would encode the grey
  /// frames as grey since 1.24, and the packets would differ between releases.
  private static let colorFormats =
    "video/x-raw,format=(string){Y444,Y42B,I420,YV12,NV12,Y444_10LE,I422_10LE,I420_10LE}"

  package var frameCount: Int { times.count - 1 }

  /// Writes the file into `folder`.
  package func write(to folder: TemporaryFolder) throws -> String {
    let path = folder.path(name)
    var description = "\(muxer) name=mux ! filesink location=\(path)\n"
    let link = muxer == "identity" ? "mux.sink" : "mux."
    if let video {
      let formats = video.hasPrefix("x264enc") ? "\(TestMedia.colorFormats) ! " : ""
      description +=
        "appsrc name=video format=time block=true max-buffers=4 ! videoconvert ! \(formats)\(video) ! queue ! \(link)\n"
    }
    if sampleCount > 0 {
      description +=
        "appsrc name=audio format=time block=true max-buffers=4 ! audioconvert dithering=none ! \(audio) ! queue ! \(link)\n"
    }
    let pipeline = try Pipeline(description)
    if let tags = title.flatMap({ TagList("taglist, title=\"\($0)\"") }) { pipeline.setTags(tags) }
    pipeline.set(.playing)
    let audio = try sampleCount > 0 ? pipeline.appSource("audio") : nil
    let frame = try video != nil ? pipeline.appSource("video") : nil
    // Audio and video are pushed at the same time, because the muxer interleaves them.
    let group = DispatchGroup()
    let failures = Failures()
    for job in [{ try frame.map(writeFrames) }, { try audio.map(writeAudio) }] as [@Sendable () throws -> Void?] {
      DispatchQueue.global().async(group: group) {
        do { _ = try job() } catch { failures.add(error) }
      }
    }
    waiting: while true {
      switch pipeline.nextMessage(timeout: ClockTime(seconds: 120)) {
      case .endOfStream: break waiting
      case .failed(let error):
        failures.add(error)
        break waiting
      case nil:
        failures.add(PipelineHang())
        break waiting
      default: break
      }
    }
    pipeline.set(.null)  // wakes blocked pushers
    group.wait()
    try failures.throwFirst()
    if orientation != nil {
      var header = MP4Header()
      header.videos = [.init(orientation: orientation)]
      try header.apply(to: path)
    }
    return path
  }

  private func writeFrames(_ source: AppSource) throws {
    guard
      let caps = Caps(
        "video/x-raw,format=GRAY8,width=\(width),height=\(height),framerate=(fraction)\(frameRate),pixel-aspect-ratio=(fraction)1/1"
      )
    else { return }
    source.setCaps(caps)
    for number in 0..<frameCount {
      let stride = (width + 3) / 4 * 4
      let buffer = try Buffer(size: stride * height) { bytes in
        for y in 0..<height {
          for x in 0..<width {
            bytes[y * stride + x] = number >> (y * 4 / height * 4 + x * 4 / width) & 1 == 1 ? 210 : 40
          }
        }
      }
      buffer.stamp(pts: times[number], duration: times[number + 1] - times[number])
      guard source.push(buffer) else { return }
    }
    source.endOfStream()
  }

  private func writeAudio(_ source: AppSource) throws {
    guard let caps = Caps(audioCaps) else { return }
    source.setCaps(caps)
    let bytes = audioBytes
    let size = caps.bytesPerSampleFrame ?? 1
    for start in Swift.stride(from: 0, to: sampleCount, by: 1024) {
      let count = min(1024, sampleCount - start)
      let buffer = try Buffer(size: count * size) { target in
        target.copyBytes(from: bytes[start * size..<(start + count) * size])
      }
      buffer.stamp(
        pts: audioStart + ClockTime(sampleIndex: start, rate: rate), duration: ClockTime(sampleIndex: count, rate: rate)
      )
      guard source.push(buffer) else { return }
    }
    source.endOfStream()
  }

  package var audioCaps: String {
    let mask = channels > 2 ? ",channel-mask=(bitmask)0x3f" : ""
    return "audio/x-raw,format=\(audioFormat),layout=interleaved,rate=\(rate),channels=\(channels)\(mask)"
  }

  /// Audio bytes. Each sample is computed from its position and channel, and differs from its
  /// neighbours.
  package var audioBytes: [UInt8] {
    if let click {
      return (0..<sampleCount).flatMap { index in
        // A short pulse that all bands of a lossy codec preserve.
        let distance = Double(index - click)
        let sample = Int16(20_000 * exp(-distance * distance / 50))
        return (0..<channels).flatMap { _ in withUnsafeBytes(of: sample.littleEndian, Array.init) }
      }
    }
    return (0..<sampleCount).flatMap { index in
      (0..<channels).flatMap { channel -> [UInt8] in
        let value = UInt32(truncatingIfNeeded: (index &* 31 &+ channel &* 7919) % 60000) &* 65536 &+ 77
        let signed = Int32(bitPattern: value &+ 0x8000_0000)
        switch audioFormat {
        case "S16LE": return [UInt8(truncatingIfNeeded: signed >> 16), UInt8(truncatingIfNeeded: signed >> 24)]
        case "S24LE":
          return [
            UInt8(truncatingIfNeeded: signed >> 8), UInt8(truncatingIfNeeded: signed >> 16),
            UInt8(truncatingIfNeeded: signed >> 24),
          ]
        case "F32LE":
          let bits = (Float(signed) / Float(1 << 30) / 2).bitPattern
          return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
        default: return (0..<4).map { UInt8(truncatingIfNeeded: signed >> (8 * Int32($0))) }
        }
      }
    }
  }
}

private final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  private var errors: [any Error] = []
  func add(_ error: any Error) { lock.withLock { errors.append(error) } }
  func throwFirst() throws { if let error = lock.withLock({ errors.first }) { throw error } }
}
