import GStreamer
import Retrograde
import Paths

/// Jobs for Slurm: an array of tasks that make the chunks, and a job that joins them when all tasks have
/// succeeded.
struct SlurmJobs {
  /// The absolute path of this program.
  var program: String
  /// The absolute path of the folder for work.
  var folder: String
  /// How many chunks the plan has.
  var chunkCount: Int
  /// Chunks that are still to be made.
  var wanted: [Int]
  /// How many tasks an array may have.
  var tasksAtMost: Int
  /// Options of `retrograde work chunk`.
  var chunkOptions: [String]
  /// The user's own options of sbatch. They hold over ours, except for those that the jobs can't do without.
  var options: [String]

  /// How many chunks, one after the other, a task makes.
  var run: Int { max(1, (chunkCount + tasksAtMost - 1) / max(tasksAtMost, 1)) }

  /// The numbers of the tasks that have something to make.
  var tasks: [Int] { Set(wanted.map { $0 / run }).sorted() }

  var chunkScriptPath: String { "\(folder)/submit-chunks.sh" }
  var joinScriptPath: String { "\(folder)/submit-join.sh" }

  /// Makes the chunks of one task. What ends the task ends with it: `exec` has Slurm's signals reach the program.
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

  /// The file with the messages of a task, in the folder for work. Slurm has patterns for the numbers.
  func taskOutput(array: String, task: String) -> String { "\(folder)/slurm-\(array)_\(task).out" }

  /// The file with the messages of the join. It stands beside the folder, which the join removes.
  func joinOutput(job: String) -> String { "\(folder).join-\(job).out" }

  /// The command that submits the array.
  var chunkCommand: [String] {
    let usual = [
      "--job-name=retrograde-chunks", "--requeue", "--open-mode=append", output(taskOutput(array: "%A", task: "%a")),
    ]
    return ["sbatch"] + usual + options + [
      "--parsable", "--array=\(NumberRanges(tasks).text(separator: ","))", chunkScriptPath,
    ]
  }

  /// The command that submits the join.
  /// - Parameter array: the number of the job that makes the chunks; nil where all are there.
  func joinCommand(after array: String?) -> [String] {
    let usual = ["--job-name=retrograde-join", "--requeue", "--open-mode=append", output(joinOutput(job: "%j"))]
    // Without the second option it would wait for ever when a chunk has failed.
    let dependency = array.map { ["--dependency=afterok:\($0)", "--kill-on-invalid-dep=yes"] } ?? []
    return ["sbatch"] + usual + options + ["--parsable"] + dependency + [joinScriptPath]
  }

  /// Slurm expands patterns that begin with a `%`; one of the folder's own is written twice.
  private func output(_ path: String) -> String {
    "--output=" + folder.replacing("%", with: "%%") + path.dropFirst(folder.count)
  }

  /// Writes the scripts into the folder. sbatch keeps copies of its own.
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
