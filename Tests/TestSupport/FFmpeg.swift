import Foundation
import Testing

/// Runs ffmpeg and ffprobe.
package enum FFmpeg {
  /// Returns the lines that ffmpeg prints, without comments.
  package static func lines(_ arguments: [String]) throws -> [String] {
    String(decoding: try bytes(arguments), as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map(String.init)
  }

  package static func bytes(_ arguments: [String]) throws -> [UInt8] {
    Array(try Program.succeed("/usr/bin/ffmpeg", ["-v", "error", "-nostdin"] + arguments).output)
  }

  /// Returns the presentation time in milliseconds and the checksum of each frame.
  package static func frames(_ path: String) throws -> [(time: Int, sum: String)] {
    let form = [
      "-map", "0:v", "-pix_fmt", "gray", "-c:v", "rawvideo", "-fps_mode", "passthrough", "-enc_time_base", "1:1000",
    ]
    return try lines(["-i", path] + form + ["-f", "framemd5", "-"]).map { line in
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      return (try #require(Int(fields[2])), fields[5])
    }
  }

  /// Decodes the interleaved audio samples, as 32-bit floats. In fragmented MP4, FFmpeg removes the
  /// priming only with `-advanced_editlist 0`.
  package static func samples(_ path: String) throws -> [Float32] {
    let edits = path.hasSuffix(".mp4") ? ["-advanced_editlist", "0"] : []
    let bytes = try bytes(edits + ["-i", path, "-map", "0:a", "-c:a", "pcm_f32le", "-f", "f32le", "-"])
    return bytes.withUnsafeBytes { Array($0.bindMemory(to: Float32.self)) }
  }

  /// Overwrites the bytes of a packet with zeros.
  /// - Parameters:
  ///   - number: index of the packet, from 0.
  ///   - stream: stream specifier in ffprobe's syntax, such as `a:0`.
  package static func zeroPacket(_ number: Int, of stream: String, in path: String) throws {
    let listing = try Program.succeed(
      "/usr/bin/ffprobe",
      ["-v", "error", "-select_streams", stream, "-show_entries", "packet=size,pos", "-of", "csv=p=0", path])
    let lines = String(decoding: listing.output, as: UTF8.self).split(separator: "\n")
    let packet = try #require(lines.dropFirst(number).first).split(separator: ",").compactMap { Int($0) }
    try #require(packet.count == 2)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes.resetBytes(in: packet[1]..<packet[1] + packet[0])
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  /// Destroys the second keyframe of a VP8 file by overwriting the keyframe's start code (RFC 6386,
  /// 9.1).
  package static func loseSecondKeyframe(ofVP8 path: String) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let code = Data([0x9D, 0x01, 0x2A])
    let first = try #require(bytes.range(of: code))
    let second = try #require(bytes.range(of: code, in: first.upperBound..<bytes.endIndex))
    bytes.replaceSubrange(second, with: [0, 0, 0])
    try bytes.write(to: URL(fileURLWithPath: path))
  }
}
