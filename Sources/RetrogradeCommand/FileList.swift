import ArgumentParser

/// Names that follow `reverse`: `INPUT OUTPUT`; where the outputs' names follow from those of the inputs,
/// inputs alone.
///
/// A `+` by itself stands between inputs that are played one after the other, as one source.
struct FileList {
  /// A file for each source; several where they are joined.
  var inputs: [[String]]
  /// nil where the outputs' names follow from those of the inputs.
  var output: String?

  static let joint = "+"

  init(inputs: [[String]], output: String?) { (self.inputs, self.output) = (inputs, output) }

  /// - Parameter isNamed: whether the last name is that of the output.
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
          ? "Which file? Write INPUT OUTPUT; or only inputs, and --into FOLDER."
          : "No output is named for \(groups[0].joined(separator: " + ")). Write INPUT OUTPUT; or add --into FOLDER.")
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
