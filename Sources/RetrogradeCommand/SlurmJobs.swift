import GStreamer
import Retrograde
import Paths

/// Slurm jobs: an array of tasks that make the chunks, and a job that joins the chunks after all
/// tasks have succeeded.
struct SlurmJobs {
  /// Absolute path of this program.
  var program: String
  /// Absolute path of the work folder.
  var folder: String
  /// Number of chunks in the plan.
  var chunkCount: Int
  /// Numbers of the unfinished chunks.
  var wanted: [Int]
  /// Maximum number of tasks in an array.
  var tasksAtMost: Int
  /// Options of `retrograde work chunk`.
  var chunkOptions: [String]
  /// User's sbatch options. They override this program's options, except for those that the jobs
  /// require.
  var options: [String]

  /// Number of consecutive chunks that one task makes.
  var run: Int { max(1, (chunkCount + tasksAtMost - 1) / max(tasksAtMost, 1)) }

  /// Numbers of the tasks with unfinished chunks.
  var tasks: [Int] { Set(wanted.map { $0 / run }).sorted() }

  var chunkScriptPath: String { "\(folder)/submit-chunks.sh" }
  var joinScriptPath: String { "\(folder)/submit-join.sh" }

  /// Script that makes the chunks of a task. The script uses `exec`, so that Slurm's signals reach
  /// the program.
  var chunkScript: String {
    let chunks: String
    var lines = ["#!/bin/sh"]
    if run == 1 {
      chunks = "\"$SLURM_ARRAY_TASK_ID\""
    } else {
      lines += [
        "first=$((SLURM_ARRAY_TASK_ID * \(run)))",
        "last=$((first + \(run - 1)))",
        "[ \"$last\" -lt \(chunkCount) ] || last=\(chunkCount - 1)",
      ]
      chunks = "\"$first-$last\""
    }
    let command =
      [program, "work", "chunk", folder].map(Shell.quotedInScript) + [chunks] + chunkOptions.map(Shell.quotedInScript)
    return (lines + ["exec \(command.joined(separator: " "))", ""]).joined(separator: "\n")
  }

  var joinScript: String {
    "#!/bin/sh\nexec \([program, "work", "join", folder].map(Shell.quotedInScript).joined(separator: " "))\n"
  }

  /// Returns the path of a task's log file, which is in the work folder. `array` and `task` are
  /// numbers, or patterns: `%A` and `%a` for Slurm, or `*` for the shell.
  func taskOutput(array: String, task: String) -> String { "\(folder)/slurm-\(array)_\(task).out" }

  /// Returns the path of the join job's log file. The file is next to the work folder, because the
  /// job removes the work folder.
  func joinOutput(job: String) -> String { "\(folder).join-\(job).out" }

  /// Command that submits the array job.
  var chunkCommand: [String] {
    let usual = [
      "--job-name=retrograde-chunks", "--requeue", "--open-mode=append", output(taskOutput(array: "%A", task: "%a")),
    ]
    return ["sbatch"] + usual + options + [
      "--parsable", "--array=\(NumberRanges(tasks).text(separator: ","))", chunkScriptPath,
    ]
  }

  /// Returns the command that submits the job that joins the chunks.
  /// - Parameter array: ID of the array job; nil if all chunks are done.
  func joinCommand(after array: String?) -> [String] {
    let usual = ["--job-name=retrograde-join", "--requeue", "--open-mode=append", output(joinOutput(job: "%j"))]
    // Without `--kill-on-invalid-dep`, the join would wait forever after a failed chunk.
    let dependency = array.map { ["--dependency=afterok:\($0)", "--kill-on-invalid-dep=yes"] } ?? []
    return ["sbatch"] + usual + options + ["--parsable"] + dependency + [joinScriptPath]
  }

  /// Returns the option for a log file. Slurm expands `%` patterns, so each `%` in the folder's
  /// path is doubled.
  private func output(_ path: String) -> String {
    "--output=" + folder.replacing("%", with: "%%") + path.dropFirst(folder.count)
  }

  /// Writes the scripts to the work folder; sbatch copies them when a job is submitted.
  func writeScripts() throws {
    for (path, text) in [(chunkScriptPath, chunkScript), (joinScriptPath, joinScript)] {
      do {
        try text.pathBytes.withUnsafeBytes { try ByteFile(path, for: path).write($0) }
      } catch let error as RetrogradeError {
        throw error.withCode(.cannotCreateOutput)
      }
    }
  }
}
