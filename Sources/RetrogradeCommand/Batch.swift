import Glibc
import Retrograde
import RetrogradeEngine
import Paths

/// One job of a batch. The job reverses one source into one output.
struct MirrorJob: Sendable {
  /// Index in the batch, from 0.
  var number: Int
  var reverser: Reverser
  var output: String
  /// Reason why the output can't be made, if known in advance.
  var refusal: RetrogradeError?

  var input: String { reverser.input }
  /// Task for the process that makes the output.
  var task: ChildTask { .reverse(inputs: reverser.inputs, reverser.options, output: output) }
  /// Size of the source in bytes; 0 if unknown.
  var size: Double {
    var info = stat()
    return stat(input.cPath, &info) == 0 ? Double(info.st_size) : 0
  }
}

/// Jobs for several files. No job starts if an output exists and may not be overwritten, or if two
/// jobs would write the same output.
struct Batch {
  private(set) var jobs: [MirrorJob] = []

  /// - Parameters:
  ///   - inputs: files, and folders of media files.
  ///   - reverser: creates the reverser of a file.
  /// - Throws: ``RetrogradeError``.
  init(
    _ inputs: [String], into folder: String, named name: OutputName, isDeep: Bool, _ folders: OutputFolders,
    _ reverser: (String) -> Reverser
  ) throws {
    typealias Source = (reverser: Reverser, folder: String, refusal: RetrogradeError?)
    let sources = inputs.flatMap { Batch.files($0, isDeep: isDeep, excluding: folder) }.map { file in
      Source(reverser(file.path), file.subfolder.isEmpty ? folder : "\(folder)/\(file.subfolder)", file.error)
    }
    if let refusal = sources.first?.refusal, sources.allSatisfy({ $0.refusal != nil }) { throw refusal }
    func output(_ source: Source, isFull: Bool = false) -> String {
      let (path, format) = (source.reverser.input, source.reverser.options.encoding.format)
      return "\(source.folder)/\(name.name(of: path, format: format, isFull: isFull))"
    }
    // FLV cannot be written, so `a.flv` and `a.mkv` in one folder would both become `a.mkv`. In
    // such a case, the file that changes its container gets a longer name: `a.flv` becomes
    // `a.flv.mkv`.
    let outputs = Dictionary(grouping: sources) { output($0).pathBytes }
    jobs = sources.enumerated().map { number, source in
      let isShared = (outputs[output(source).pathBytes]?.count ?? 0) > 1
      return MirrorJob(
        number: number, reverser: source.reverser, output: output(source, isFull: isShared), refusal: source.refusal)
    }
    try checkNames()
    for job in jobs where job.refusal == nil { try folders.make(job.output.folderPath) }
  }

  /// Returns the file itself, or the media files in a folder.
  private static func files(_ input: String, isDeep: Bool, excluding folder: String) -> [MediaFolder.File] {
    guard MediaFolder.isFolder(input) else { return [MediaFolder.File(input)] }
    do {
      return try MediaFolder.files(in: input, isDeep: isDeep, excluding: folder)
    } catch {
      return [MediaFolder.File(input, error: error)]
    }
  }

  /// Divides the memory among `count` concurrent jobs.
  mutating func share(by count: Int) {
    for place in jobs.indices { jobs[place].reverser = jobs[place].reverser.sharing(by: count) }
  }

  /// Checks the outputs before any work. An output that fails the check is recorded in
  /// ``MirrorJob/refusal``. An error of code `usage`, such as for an extension without a container,
  /// does not stop the other jobs.
  /// - Throws: the first error, if no job is left or any error has another code. The message names
  ///   up to three other outputs that failed too.
  mutating func check() throws {
    let inputs = jobs.map(\.input)
    var refused: [RetrogradeError] = []
    for (place, job) in jobs.enumerated() where job.refusal == nil {
      do {
        try job.reverser.checkOutput(job.output, besides: inputs)
      } catch let error as RetrogradeError {
        refused.append(error)
        jobs[place].refusal = error
      }
    }
    guard refused.contains(where: { $0.code != .usage }) || jobs.allSatisfy({ $0.refusal != nil }),
      let first = refused.first.map(Batch.advised)
    else { return }
    let others = refused.dropFirst().prefix(3).compactMap(\.subject)
    guard !others.isEmpty else { throw first }
    let more = refused.count - 1 - others.count
    throw RetrogradeError(
      first.code, about: first.subject,
      "\(first.reason); the same applies to \(others.joined(separator: ", "))\(more > 0 ? " and \(more) more" : "")",
      remedy: first.remedy, underlying: first.underlying)
  }

  /// Adds the remedy to choose a container with `--name`, if `error` has code `usage` and no
  /// remedy.
  private static func advised(_ error: RetrogradeError) -> RetrogradeError {
    guard error.code == .usage, error.remedy == nil, error.subject != nil else { return error }
    return RetrogradeError(
      .usage, about: error.subject, error.reason,
      remedy: "choose a container for all outputs with --name, such as '{stem}.mkv'",
      underlying: error.underlying)
  }

  private func checkNames() throws {
    // Compare bytes: two file names with different bytes may be equal as Swift strings, because
    // letters such as `é` have several encodings in Unicode.
    var inputs: [[UInt8]: String] = [:]
    for job in jobs where job.refusal == nil {
      guard job.input != "-" else {
        throw RetrogradeError(
          .usage, about: "standard input", "can't be used with --into, which names each output after its input file",
          remedy: "leave out --into, and name an output file"
        )
      }
      if let other = inputs.updateValue(job.input, forKey: job.output.pathBytes) {
        throw RetrogradeError(
          .usage, about: job.output, "would be the output of both \(other) and \(job.input)",
          remedy: "reverse one of them separately, with another name")
      }
    }
  }
}
