package import GStreamer
import Synchronization

/// A workaround for one element of GStreamer: a fault of it, or something that it cannot do.
///
/// Callers ask for a quirk by name, `if Quirk.qtmuxOpusByteOrder.applies { … }`, and never for a release.
/// `QuirksTests` produces the symptom of each with plain elements, and expects it on exactly
/// ``releases``: when a release ends the fault, the test fails and names the quirk that can go.
package struct Quirk: Sendable {
  /// Unique name, `element-symptom`, as in `qtmux-opus-byte-order`.
  package let name: String
  /// Name of the element's factory. Its plugin's version decides whether the quirk applies.
  package let element: String
  /// Releases of the plugin that have the symptom.
  package let releases: Releases
  /// Effect without the workaround: one or two sentences.
  package let symptom: String
  /// Function, commit, merge request or issue upstream that has or ends the fault; nil if none is known.
  package let upstream: String?
  /// Action that the project takes against the symptom: one or two sentences.
  package let workaround: String
  /// True for a workaround that only seeks of demuxers need.
  package let isForSeeks: Bool
  private let probe: (@Sendable () -> Bool)?

  /// - Parameter probe: asks the installed element for the behaviour itself, where a caps template, a
  ///   property or a short run can tell. It runs once; its answer is preferred to ``releases``.
  package init(
    _ name: String, element: String, releases: Releases, symptom: String, upstream: String? = nil,
    workaround: String, isForSeeks: Bool = false, probe: (@Sendable () -> Bool)? = nil
  ) {
    self.name = name
    self.element = element
    self.releases = releases
    self.symptom = symptom
    self.upstream = upstream
    self.workaround = workaround
    self.isForSeeks = isForSeeks
    self.probe = probe
  }

  /// True if the installed element needs the workaround; false if it is not installed.
  package var applies: Bool {
    if let known = Quirk.answers.withLock({ $0[name] }) { return known }
    // Outside the lock: a probe may run a pipeline, or ask for another quirk.
    let answer = probe?() ?? isExpected
    Quirk.answers.withLock { $0[name] = answer }
    return answer
  }

  /// True if the release of the installed plugin is one of ``releases``.
  package var isExpected: Bool { Registry.release(ofPluginWith: element).map(releases.contains) ?? false }

  private static let answers = Mutex<[String: Bool]>([:])
}

/// A range of releases, open at either end.
package struct Releases: Sendable, CustomStringConvertible {
  /// First release with the symptom; nil if older ones may have it too.
  package let from: Release?
  /// First release without it; nil if none is known.
  package let until: Release?

  package static let all = Releases(from: nil, until: nil)

  package static func before(_ until: Release) -> Releases { Releases(from: nil, until: until) }

  package static func since(_ from: Release) -> Releases { Releases(from: from, until: nil) }

  package static func from(_ from: Release, until: Release) -> Releases { Releases(from: from, until: until) }

  package func contains(_ release: Release) -> Bool {
    from.map { $0 <= release } ?? true && until.map { release < $0 } ?? true
  }

  package var description: String {
    switch (from, until) {
    case (nil, nil): "all"
    case (nil, let until?): "before \(until)"
    case (let from?, nil): "since \(from)"
    case (let from?, let until?): "\(from) until \(until)"
    }
  }
}
