import ArgumentParser

/// File names after `reverse`: `INPUT OUTPUT`, or only inputs if the outputs' names are derived
/// from them.
///
/// A separate argument `+` between two inputs joins these inputs into one source.
struct FileList {
  /// Files of each source; several if they are joined.
  var inputs: [[String]]
  /// Output; nil if the names are derived from the inputs.
  var output: String?

  static let joint = "+"

  init(inputs: [[String]], output: String?) { (self.inputs, self.output) = (inputs, output) }

  /// - Parameter isNamed: true if the last name is the output.
  init(_ names: [String], isNamed: Bool) throws {
    var groups: [[String]] = []
    var isJoined = false
    for name in names {
      if name == FileList.joint {
        guard !groups.isEmpty, !isJoined else { throw FileList.missingJoinOperand }
        isJoined = true
      } else if isJoined {
        groups[groups.count - 1].append(name)
        isJoined = false
      } else {
        groups.append([name])
      }
    }
    guard !isJoined else { throw FileList.missingJoinOperand }
    guard isNamed else {
      guard !groups.isEmpty else {
        throw ValidationError("No files are given. Give the files to reverse; --into sets the folder for the outputs.")
      }
      inputs = groups
      return
    }
    guard groups.count > 1 else {
      throw ValidationError(
        groups.isEmpty
          ? "No files are given. Give an input and an output, or several inputs and --into FOLDER."
          : "No output is given for \(groups[0].joined(separator: " + ")). Add an output file, or --into FOLDER."
      )
    }
    guard groups.count == 2, groups[1].count == 1 else {
      throw ValidationError(
        "Expected one INPUT and one OUTPUT, but got \(groups.count) names. --into FOLDER reverses each file separately."
      )
    }
    inputs = [groups[0]]
    output = groups[1][0]
  }

  private static let missingJoinOperand = ValidationError(
    "A + joins the inputs before and after it. Write, for example: a.mp4 + b.mp4 out.mp4.")
}
