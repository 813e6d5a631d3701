import ArgumentParser
import Paths
import Retrograde

/// Shell completions for presets, codecs, encoders and pipeline files.
enum Completions {
  static let presets = CompletionKind.custom { _, _, _ in PresetFolders().files().map(\.name) }

  static let videoCodecs = CompletionKind.custom { _, _, _ in CodecReport.all().filter(\.isVideo).map(\.name) }

  static let audioCodecs = CompletionKind.custom { _, _, _ in CodecReport.all().filter { !$0.isVideo }.map(\.name) }

  static let videoEncoders = CompletionKind.custom { _, _, _ in
    CodecReport.all().filter(\.isVideo).flatMap(\.encoders).map(\.name)
  }

  /// Installed pipeline files by name, and other pipeline files by path.
  static let pipelines = CompletionKind.custom { _, _, prefix in
    let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
    let beside = (fileNames(in: folder.isEmpty ? "." : folder) ?? []).filter {
      $0.hasSuffix(PipelineFolders.pathExtension)
    }
    let installed = folder.isEmpty ? PipelineFolders().files().map(\.name) : []
    return installed + beside.sorted().map { folder + $0 }
  }
}

extension CodecReport {
  fileprivate var isVideo: Bool { !caps.hasPrefix("audio/") }
}
