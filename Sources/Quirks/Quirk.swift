package import GStreamer
import Synchronization

/// Workaround for a fault or a limit of a GStreamer element.
///
/// Callers check a quirk by name, `if Quirk.qtmuxOpusByteOrder.applies { … }`, and never compare
/// releases. `QuirksTests` reproduces each symptom with plain elements, and expects the symptom on
/// exactly ``releases``. When a release fixes the fault, the test fails and names the obsolete
/// quirk.
package struct Quirk: Sendable {
  /// Unique name, `element-symptom`, as in `qtmux-opus-byte-order`.
  package let name: String
  /// Factory name of the element. The release of the element's plugin decides whether the quirk
  /// applies.
  package let element: String
  /// Releases of the plugin that have the symptom.
  package let releases: Releases
  /// Effect without the workaround: one or two sentences.
  package let symptom: String
  /// Upstream reference: the function or commit that causes the fault, or the commit, merge request
  /// or issue that fixes the fault; nil if unknown.
  package let upstream: String?
  /// Countermeasure in this project: one or two sentences.
  package let workaround: String
  /// True if only seeks need the workaround.
  package let isForSeeks: Bool
  private let probe: (@Sendable () -> Bool)?

  /// - Parameter probe: tests whether the installed element has the symptom, by a caps template, a
  ///   property or a short run. The result is cached, and overrides ``releases``.
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

  /// True if the installed element needs the workaround. If the element is not installed, the value
  /// is false, unless the quirk has a probe: then the probe decides.
  package var applies: Bool {
    if let known = Quirk.answers.withLock({ $0[name] }) { return known }
    // Call `probe` outside the lock, because it may run a pipeline or use another quirk.
    let answer = probe?() ?? isExpected
    Quirk.answers.withLock { $0[name] = answer }
    return answer
  }

  /// True if the release of the installed plugin is one of ``releases``.
  package var isExpected: Bool { Registry.release(ofPluginWith: element).map(releases.contains) ?? false }

  private static let answers = Mutex<[String: Bool]>([:])
}

/// Range of releases, which may be open at either end.
package struct Releases: Sendable, CustomStringConvertible {
  /// First release with the symptom; nil if all older releases may have the symptom too.
  package let from: Release?
  /// First release without the symptom; nil if none is known.
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
