import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

/// Expects the symptom of `quirk` on exactly the releases that the quirk names. On these releases,
/// `quirk.applies` must be true; on others, false.
/// - Parameter symptom: tries to reproduce the symptom with plain GStreamer elements; true if the
///   symptom is present.
func expect(
  _ quirk: Quirk, sourceLocation: SourceLocation = #_sourceLocation, _ symptom: () throws -> Bool
) throws {
  // A release without the element needs no workaround.
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

/// Runs `gst-launch-1.0` with these arguments in its own process, which may crash.
/// - Parameter environment: variables added to those of this process.
func launch(_ arguments: [String], environment: [String: String] = [:]) throws -> Program.Ending {
  try Program("/usr/bin/gst-launch-1.0", ["-q"] + arguments, variables: environment).end()
}
