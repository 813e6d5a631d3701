import Foundation
import Testing

/// `retrograde work submit`, with fake Slurm programs that record their arguments. `make
/// test-cluster` uses the real Slurm programs.
@Suite struct SubmitTests {
  private let scratch: Scratch
  private let work: String
  private let source: String

  init() throws {
    scratch = try Scratch()
    // The name contains characters that are special to a shell and to sbatch. These characters must
    // be kept.
    work = scratch.path("it's 100%j")
    source = scratch.path("a.mp4")
    try Command.makeClip(source, frames: 90)
    try FileManager.default.createDirectory(atPath: scratch.path("bin"), withIntermediateDirectories: false)
  }

  /// Writes a program to the folder in which the tested commands search.
  private func program(_ name: String, _ script: String) throws {
    let path = scratch.path("bin/\(name)")
    try Data("#!/bin/sh\nPATH=/usr/bin:/bin\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
  }

  /// Writes a fake sbatch, which records its arguments line by line and numbers the jobs 1, 2 …
  private func recordSubmissions() throws {
    try program(
      "sbatch",
      """
      echo call >>"$0.calls"
      for word; do echo "$word" >>"$0.$(wc -l <"$0.calls")"; done
      echo "$(wc -l <"$0.calls");cluster"
      """)
  }

  private func recorded(_ call: Int) throws -> [String] {
    try String(contentsOfFile: scratch.path("bin/sbatch.\(call)"), encoding: .utf8).split(separator: "\n")
      .map(String.init)
  }

  private func submit(_ options: [String] = [], slurm: [String] = []) throws -> Command.Result {
    try Command.run(
      ["work", "submit", source, scratch.path("b.mkv"), "--work", work, "--chunks", "3"] + options + ["--slurm"]
        + slurm,
      environment: environment)
  }

  /// Environment whose PATH contains only the fake programs, because this machine may have Slurm.
  private var environment: [String: String] {
    ProcessInfo.processInfo.environment.merging(["PATH": scratch.path("bin")]) { $1 }
  }

  @Test("a job array for the chunks and a join job that depends on it are submitted")
  func submission() throws {
    try recordSubmissions()
    let result = try submit(slurm: ["-p long --comment='two words'"])
    #expect(result.status == 0, "\(result.errors)")
    let folder = work.replacingOccurrences(of: "%", with: "%%")
    let own = ["-p", "long", "--comment=two words", "--parsable"]
    #expect(
      try recorded(1) == [
        "--job-name=retrograde-chunks", "--requeue", "--open-mode=append", "--output=\(folder)/slurm-%A_%a.out",
      ] + own + ["--array=0-3", "\(work)/submit-chunks.sh"])
    #expect(
      try recorded(2) == [
        "--job-name=retrograde-join", "--requeue", "--open-mode=append", "--output=\(folder).join-%j.out",
      ] + own + ["--dependency=afterok:1", "--kill-on-invalid-dep=yes", "\(work)/submit-join.sh"])
    #expect(result.output.contains("squeue --jobs=1,2\n"))
    #expect(
      result.output.contains("logs       \(work)/slurm-1_*.out\n           \(work).join-2.out\n"), "\(result.output)")
    #expect(result.output.contains("retrograde work status '\(scratch.path("it"))'\\''s 100%j'\n"))
  }

  /// Runs the submitted scripts directly, without Slurm.
  @Test("a second submission contains only unfinished chunks")
  func resubmission() throws {
    try recordSubmissions()
    #expect(try submit(["--memory", "64M", "--spool-dir", scratch.path("")]).status == 0)
    for task in ["1", "2", "1"] { #expect(try run("submit-chunks.sh", task: task) == 0) }
    #expect(try run("submit-join.sh") == 64)
    #expect(try submit().status == 0)
    #expect(try recorded(3).contains("--array=0,3"))
    for task in ["0", "3"] { #expect(try run("submit-chunks.sh", task: task) == 0) }
    #expect(try submit(slurm: ["--comment", "two words"]).output.contains("job 5: all chunks are finished"))
    #expect(try recorded(5).suffix(4) == ["--comment", "two words", "--parsable", "\(work)/submit-join.sh"])
    #expect(try run("submit-join.sh") == 0)
    #expect(scratch.names == ["a.mp4", "b.mkv", "bin"])
  }

  @Test("above Slurm's array limit, one task makes several chunks")
  func arrayLimit() throws {
    try recordSubmissions()
    try program("scontrol", "echo 'MaxArraySize            = 3'")
    #expect(try submit(slurm: []).output.contains("2 tasks, up to 2 chunks each"))
    #expect(try recorded(1).contains("--array=0-1"))
    for task in ["0", "1"] { #expect(try run("submit-chunks.sh", task: task) == 0) }
    #expect(try Command.run(["work", "status", work]).output.contains("4: 4 done"))
  }

  @Test("a failed chunk fails its task")
  func failedChunk() throws {
    try recordSubmissions()
    #expect(try submit().status == 0)
    try Data("other".utf8).write(to: URL(fileURLWithPath: source))
    #expect(try run("submit-chunks.sh", task: "0") != 0)
  }

  @Test("the plan remains if its jobs cannot be submitted")
  func failedSubmission() throws {
    let missing = try submit()
    #expect(missing.status == 69)
    #expect(missing.errors.contains("sbatch is not in PATH"))
    #expect(missing.errors.contains("the plan is in \(work)"))
    try program("sbatch", "echo 'sbatch: error: invalid partition specified: long' >&2; exit 1")
    let failing = try submit(slurm: ["-p long"])
    #expect(failing.status == 70)
    #expect(failing.errors.contains("sbatch ended with status 1: sbatch: error: invalid partition specified: long; "))
    try program("sbatch", #"case "$*" in *chunks.sh) echo 8;; *) exit 3;; esac"#)
    let half = try submit()
    #expect(half.status == 70)
    #expect(half.errors.contains("sbatch ended with status 3: no error message; job 8 is still making the chunks"))
    #expect(try Command.run(["work", "status", work]).output.contains("4 to come"))
  }

  @Test("an unclosed quote is refused")
  func unclosedQuote() throws {
    #expect(try submit(slurm: ["--comment='two words"]).status == 64)
    #expect(!FileManager.default.fileExists(atPath: work))
  }

  private func run(_ script: String, task: String = "") throws -> Int32 {
    try Command.run(
      ["\(work)/\(script)"], of: URL(fileURLWithPath: "/bin/sh"),
      environment: environment.merging(["SLURM_ARRAY_TASK_ID": task]) { $1 }
    ).status
  }
}
