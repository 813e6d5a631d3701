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

/// How a program ended.
struct Ending {
  /// Exit status, or the number of the signal that ended it.
  let status: Int32
  let isCrash: Bool
  let output: String
  let errors: String
}

/// Runs a pipeline in a process of its own, which may crash: `gst-launch-1.0` with these arguments.
/// - Parameter environment: variables beside those of this process.
func launch(_ arguments: [String], environment: [String: String] = [:]) throws -> Ending {
  let process = Process()
  let (output, errors) = (Pipe(), Pipe())
  process.executableURL = URL(fileURLWithPath: "/usr/bin/gst-launch-1.0")
  process.arguments = ["-q"] + arguments
  process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  (process.standardOutput, process.standardError) = (output, errors)
  // Read on threads of their own: a full pipe would stop the program.
  let read = [output, errors].map { pipe in
    let bytes = Bytes()
    pipe.fileHandleForReading.readabilityHandler = { handle in
      let more = handle.availableData
      if more.isEmpty { handle.readabilityHandler = nil }
      bytes.append(more)
    }
    return bytes
  }
  try process.run()
  process.waitUntilExit()
  let texts = read.map { $0.text() }
  return Ending(
    status: process.terminationStatus, isCrash: process.terminationReason == .uncaughtSignal, output: texts[0],
    errors: texts[1])
}

/// Bytes that a pipe gives until its end.
private final class Bytes: @unchecked Sendable {  // behind its own condition
  private let condition = NSCondition()
  private var bytes = Data()
  private var isComplete = false

  func append(_ more: Data) {
    condition.lock()
    bytes += more
    isComplete = more.isEmpty
    condition.signal()
    condition.unlock()
  }

  func text() -> String {
    condition.lock()
    defer { condition.unlock() }
    while !isComplete { condition.wait() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
