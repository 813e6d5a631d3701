import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

/// Expects the symptom of `quirk` on exactly the releases that it names, and the quirk to apply there.
/// - Parameter symptom: produces it with plain elements of GStreamer; true if it is there.
func expect(
  _ quirk: Quirk, sourceLocation: SourceLocation = #_sourceLocation, _ symptom: () throws -> Bool
) throws {
  // An element that a release no longer has needs no workaround there.
  guard let release = Registry.release(ofPluginWith: quirk.element) else {
    #expect(!quirk.applies, sourceLocation: sourceLocation)
    return
  }
  let isThere = try symptom()
  #expect(
    isThere == quirk.isExpected,
    """
    \(quirk.element) \(release) \(isThere ? "has" : "does not have") the symptom of \(quirk.name), \
    which names these releases: \(quirk.releases)
    """, sourceLocation: sourceLocation)
  #expect(quirk.applies == isThere, "its probe differs", sourceLocation: sourceLocation)
}

/// Runs a pipeline in a process of its own, which may crash: `gst-launch-1.0` with these arguments.
/// - Parameter environment: variables beside those of this process.
func launch(_ arguments: [String], environment: [String: String] = [:]) throws -> Program.Ending {
  try Program("/usr/bin/gst-launch-1.0", ["-q"] + arguments, variables: environment).end()
}
