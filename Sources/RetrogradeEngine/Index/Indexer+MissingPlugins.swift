import Containers
import GStreamer

extension Indexer {
  /// Returns warnings about streams without an installed decoder.
  /// - Parameter others: media types of streams that are left out for other reasons. Missing
  ///   plugins for these streams do not matter.
  /// - Throws: ``RetrogradeError`` of code `missingPlugin` if none of the video, or none of the
  ///   audio, can be decoded although the user did not exclude it.
  func undecodable(
    _ videos: [StreamPath], _ audios: [StreamPath], besides others: [String]
  ) throws -> [Warning] {
    var missing = topology.missing.map { (name: $0.description, type: $0.mediaType ?? "") }
    let crowded = topology.streams.first { $0.kind == .audio && AudioDecoder.hasTooManyChannels($0.caps) }
    if let crowded, audios.isEmpty, playback.wantsAny(.audio) {
      throw RetrogradeError(
        .missingPlugin, about: topology.source,
        "its audio has \(crowded.caps.int("channels") ?? 0) channels, but this release of GStreamer accepts at most "
          + "\(AudioDecoder.mostChannels)",
        remedy: videos.isEmpty ? nil : "leave out the audio (\(setting: .noAudio))")
    }
    missing += topology.streams.filter { $0.kind == .audio && AudioDecoder(for: $0) == nil }
      .map { ("\($0.caps.codecName) decoder", $0.caps.mediaType) }
    for (kind, found) in [(StreamKind.video, videos), (.audio, audios)] where found.isEmpty && playback.wantsAny(kind) {
      guard let main = missing.first(where: { $0.type.hasPrefix("\(kind)/") }) else { continue }
      var remedies: [Message] = PackageHint.decoding(main.type).map { ["\($0)"] } ?? []
      if !(kind == .video ? audios : videos).isEmpty {
        remedies.append("leave out the \(kind.rawValue) (\(setting: kind == .video ? .noVideo : .noAudio))")
      }
      throw RetrogradeError(
        .missingPlugin, about: topology.source,
        "its \(kind.rawValue) can't be decoded: no plugin is installed for it (\(main.name))",
        remedy: remedies.isEmpty ? nil : remedies.dropFirst().reduce(remedies[0]) { $0 + ", or " + $1 })
    }
    return missing.compactMap { (name, type) -> Warning? in
      if others.contains(where: { type == $0 || name.hasPrefix($0) }) { return nil }
      if [.video, .audio].contains(where: { (kind: StreamKind) in type.hasPrefix("\(kind)/") && !playback.wantsAny(kind)
      }) {
        return nil
      }
      return Warning(
        .missingPlugin,
        "left out: a stream for which no plugin is installed (\(name)); "
          + "\(PackageHint.decoding(type) ?? "GStreamer has no plugin for it")"
      )
    }
  }
}
