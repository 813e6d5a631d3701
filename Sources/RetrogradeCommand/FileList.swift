import ArgumentParser

/// File names after `reverse`: `INPUT OUTPUT`, or only inputs if the outputs' names are derived
/// from them.
///
/// A separate `+` joins inputs to one source.
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
        guard !groups.isEmpty, !isJoined else { throw FileList.lonelyJoint }
        isJoined = true
      } else if isJoined {
        groups[groups.count - 1].append(name)
        isJoined = false
      } else {
        groups.append([name])
      }
    }
    guard !isJoined else { throw FileList.lonelyJoint }
    guard isNamed else {
      guard !groups.isEmpty else {
        throw ValidationError("Which files? Name the files to reverse; --into names the folder for the outputs.")
      }
      inputs = groups
      return
    }
    guard groups.count > 1 else {
      throw ValidationError(
        groups.isEmpty
          ? "Which file? Name an input and an output; or inputs, and --into FOLDER."
          : "No output is named for \(groups[0].joined(separator: " + ")). Name an input and an output; or add --into FOLDER."
      )
    }
    guard groups.count == 2, groups[1].count == 1 else {
      throw ValidationError(
        "INPUT OUTPUT are two names, and these are \(groups.count); --into FOLDER reverses each file."
      )
    }
    inputs = [groups[0]]
    output = groups[1][0]
  }

  private static let lonelyJoint = ValidationError(
    "A + joins the file before it to the one after it: a.mp4 + b.mp4 out.mp4.")
}
