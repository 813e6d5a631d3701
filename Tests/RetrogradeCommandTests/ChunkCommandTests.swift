import Foundation
import TestSupport
import Testing

@Suite struct ChunkCommandTests {
  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  /// matroskamux takes IDs from a random generator and the date from the clock. The command seeds
  /// the generator and replaces the date. The test runs the command in a separate process, because
  /// concurrent tests in this process share one generator.
  @Test("one run and separate chunk commands write the same bytes")
  func sameBytes() throws {
    let scratch = try Scratch()
    let (source, work) = (scratch.path("a.mp4"), scratch.path("work"))
    try Command.makeClip(source, frames: 90)
    let whole = try Command.run([
      "reverse", source, scratch.path("whole.mkv"), "--work", work, "--chunk-length", "1", "--jobs", "2",
    ])
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(scratch.names == ["a.mp4", "whole.mkv"])

    let split = try Command.run(["work", "split", source, scratch.path("pieces.mkv"), "--work", work, "--chunks", "3"])
    #expect(split.output.contains("chunks     4: 0 done, 0 running, 0 failed, 4 to come"))
    #expect(try Command.run(["work", "join", work]).status == 64)
    for chunk in ["3", "0-1"] { #expect(try Command.run(["work", "chunk", work, chunk]).status == 0) }
    let next = try Command.run(["work", "chunk", work])
    #expect(next.errors.contains("made chunk 2"))
    #expect(try Command.run(["work", "chunk", work]).errors.contains("no chunk was left to make"))
    #expect(try Command.run(["work", "status", work]).output.contains("4 done"))
    let join = try Command.run(["work", "join", work])
    #expect(join.errors.contains("90 frames"))
    #expect(scratch.names == ["a.mp4", "whole.mkv", "pieces.mkv"])
    #expect(try bytes(scratch.path("whole.mkv")) == bytes(scratch.path("pieces.mkv")))
  }

  @Test("encoder options override the settings for chunks", arguments: ["threads=2", "option-string=ref=1"])
  func encoderOptions(_ given: String) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let made = try Command.run([
      "reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--work", scratch.path("work"), "--chunks", "2",
      "--encoder-options", given,
    ])
    #expect(made.status == 0, "\(made.errors)")
  }

  @Test("a killed run resumes")
  func killedRun() throws {
    let scratch = try Scratch()
    let (source, work) = (scratch.path("a.mp4"), scratch.path("work"))
    try Command.makeClip(source, frames: 150, size: "640,height=480")
    func arguments(_ name: String) -> [String] {
      [
        "reverse", source, scratch.path(name), "--work", work, "--chunk-length", "1", "--jobs", "1", "--progress",
        "json",
      ]
    }
    #expect(try Command.run(arguments("whole.mkv")).status == 0)
    let killed = try Command.run(arguments("again.mkv")) { process, line in
      // Waits until the first chunk is being made.
      while let text = line(), !text.contains(#""stage":"reversing""#) {}
      kill(process.processIdentifier, SIGKILL)
    }
    #expect(killed.status == SIGKILL)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("again.mkv")))
    #expect(try Command.run(arguments("again.mkv")).status == 0)
    #expect(try bytes(scratch.path("whole.mkv")) == bytes(scratch.path("again.mkv")))
    #expect(!FileManager.default.fileExists(atPath: work))
  }

  @Test("a film whose last keyframe can't be decoded is split into chunks")
  func lostKeyframe() throws {
    let scratch = try Scratch()
    let options = ["-c:v", "libx264", "-g", "10", "-bf", "0", "-sc_threshold", "0"]
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=d=2:r=25:s=160x120"] + options + [scratch.path("a.mp4")])
    for number in 40..<50 { try FFmpeg.zeroPacket(number, of: "v:0", in: scratch.path("a.mp4")) }
    let split = try Command.run([
      "work", "split", scratch.path("a.mp4"), scratch.path("b.mkv"), "--work", scratch.path("work"), "--chunks", "3",
    ])
    #expect(split.status == 0 && split.output.contains("0:00:01.600, 10 frames"), "\(split.errors)")
  }

  @Test("invalid chunk arguments and folders are refused")
  func invalidArguments() throws {
    let scratch = try Scratch()
    for arguments in [
      ["reverse", "a.mp4", "b.mp4", "--jobs", "2"], ["work", "split", "a.mp4", "b.mp4"],
      ["work", "split", "a.mp4", "b.mp4", "--work", scratch.path("w"), "--chunks", "2", "--chunk-length", "1"],
      ["work", "chunk", scratch.path("w"), "3-1"], ["work", "chunk", scratch.path("w"), "x"],
    ] {
      #expect(try Command.run(arguments).status == 64, "\(arguments)")
    }
    // The old names of the commands are accepted, too.
    for command in [["work", "chunk"], ["chunk"], ["work", "join"], ["join"], ["work", "status"], ["status"]] {
      let result = try Command.run(command + [scratch.path("nowhere")])
      #expect(result.status == 66)
      #expect(result.errors.contains("contains no plan; `retrograde work split` makes one"))
    }
  }

  @Test("paths in suggested commands are quoted for a shell")
  func quotedPaths() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let work = scratch.path("my work")
    let split = ["work", "split", scratch.path("a.mp4"), scratch.path("b.mp4"), "--work", work]
    #expect(try Command.run(split).status == 0)
    #expect(
      try Command.run(["work", "join", work]).errors.contains("`retrograde work chunk '\(work)'` makes the next one"))
    #expect(
      try Command.run(["work", "chunk", work, "99"]).errors.contains("`retrograde work status '\(work)'` lists"))
  }
}
