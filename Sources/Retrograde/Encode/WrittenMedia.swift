public import Containers
import GStreamer
import MediaTime
import RetrogradeEngine

/// Description of a written file.
public struct WrittenMedia: Sendable, Codable, Hashable {
  public struct Stream: Sendable, Codable, Hashable {
    public var kind: StreamKind
    /// Name of the codec, such as `H.264`.
    public var codec: String
    /// Stored width of the video's frames, in pixels, before rotation; nil for audio.
    public var width: Int?
    public var height: Int?
    /// Average number of video frames per second; nil for audio, or if unknown.
    public var frameRate: Double?
    /// Sample rate of audio, in Hz; nil for video.
    public var rate: Int?
    public var channels: Int?
    /// Format in a few words: display size and frame rate (`1920x1080`, `29.97 fps`), or sample
    /// rate and channels (`48 kHz`, `stereo`).
    public var summary: [String]
  }

  /// Name of the container, such as `MP4` or `Matroska`.
  public var container: String
  /// Video streams, then audio streams.
  public var streams: [Stream]

  /// Description in one line: `MP4: H.264 1920x1080 29.97 fps, AAC 48 kHz stereo`.
  public var summary: String {
    var words: [String] = []
    for stream in streams {
      let text = ([stream.codec] + stream.summary).joined(separator: " ")
      if words.last?.hasSuffix(text) ?? false, let same = words.popLast() {
        let count = Int(same.dropLast(text.count).prefix { $0.isNumber }) ?? 1
        words.append("\(count + 1) x \(text)")
      } else {
        words.append(text)
      }
    }
    let isItself = streams.count == 1 && streams[0].codec == container
    return (isItself ? "" : "\(container): ") + words.joined(separator: ", ")
  }

  /// Returns the container's name for the extension of a file name, such as `Matroska` for `.mkv`.
  static func containerName(of output: String) -> String {
    let name = output.dotExtension.dropFirst()
    return [
      "mkv": "Matroska", "mka": "Matroska", "webm": "WebM", "webp": "WebP", "ts": "MPEG-TS", "ogg": "Ogg",
      "ogv": "Ogg", "oga": "Ogg", "opus": "Opus", "jpg": "JPEG", "m4v": "MP4", "m4a": "MP4", "m4b": "MP4",
    ][name] ?? name.uppercased()
  }
}

extension WrittenMedia.Stream {
  /// Creates a video stream.
  /// - Parameters:
  ///   - packets: caps of the packets at the muxer.
  ///   - raw: caps of the frames at the encoder; nil if there is no encoder.
  ///   - rate: measured frames per second; nil if unknown.
  ///   - orientation: value of GST_TAG_IMAGE_ORIENTATION; nil if the file has none.
  init(video packets: Caps, _ raw: Caps?, rate: Double?, orientation: String?) {
    (kind, codec) = (.video, Codec(of: packets)?.shortName ?? packets.codecName)
    let size = (packets.int("width") ?? raw?.int("width"), packets.int("height") ?? raw?.int("height"))
    (width, height) = size
    // Prefer the nominal frame rate, because timestamps in files are rounded. Some containers
    // declare a wrong nominal rate, so use it only if it is close to the measured rate.
    let named = [packets, raw].lazy.compactMap { $0?.fraction("framerate") }.first { $0.numerator > 0 }
    let nominal = named.map { Double($0.numerator) / Double(max($0.denominator, 1)) }
    let shown = rate.map { rate in nominal.flatMap { abs($0 - rate) < rate / 200 ? $0 : nil } ?? rate } ?? nominal
    let rate = shown.map { ($0 * 100).rounded() / 100 }
    frameRate = rate
    summary = [
      size.0.flatMap { width in
        size.1.map { height in
          FrameOrientation(orientation: orientation).isSideways ? "\(height)x\(width)" : "\(width)x\(height)"
        }
      }, rate.map { "\($0.plain) fps" },
    ].compactMap { $0 }
  }

  /// Creates an audio stream.
  init(audio packets: Caps, _ raw: Caps?) {
    (kind, codec) = (.audio, Codec(of: packets)?.shortName ?? packets.codecName)
    let form = (packets.int("rate") ?? raw?.int("rate"), packets.int("channels") ?? raw?.int("channels"))
    (rate, channels) = form
    let known = form.0.flatMap { rate in form.1.flatMap { Caps("audio/x-raw,rate=\(rate),channels=\($0)") } }
    summary = (raw ?? known)?.summary ?? []
  }
}
