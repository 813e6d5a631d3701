import Foundation
import Testing

/// Memory of the process, as counted by the kernel.
@Suite struct MemoryTests {
  /// Returns the peak memory of a process so far (`VmHWM` in its `/proc` status), in KiB; nil if
  /// the process has ended.
  private func peak(_ process: Int32) -> Int? {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }

  /// Reverses a clip, and returns the peak memory of the run in KiB. The memory is measured at each
  /// progress report.
  private func peak(frames: Int, _ scratch: Scratch) throws -> Int {
    let clip = scratch.path("\(frames).mp4")
    try Command.makeClip(clip, frames: frames, size: "480,height=270")
    var highest = 0
    let result = try Command.run(
      ["reverse", clip, scratch.path("m\(frames).mp4"), "--memory", "16MiB", "--progress", "json"]
    ) { process, nextLine in
      while nextLine() != nil { highest = max(highest, peak(process.processIdentifier) ?? 0) }
    }
    #expect(result.status == 0, "\(result.errors)")
    return highest
  }

  /// The decoded frames are 10-bit 4:4:4 (GStreamer 1.22). They take 742 MiB for the longer clip,
  /// and 148 MiB for the shorter clip.
  @Test("memory does not grow with the length of the source")
  func constantMemory() throws {
    let scratch = try Scratch()
    let (short, long) = (try peak(frames: 200, scratch), try peak(frames: 1000, scratch))
    #expect(short > 0)
    #expect(long - short < 32 << 10, "\(short) and \(long) KiB")
  }
}
