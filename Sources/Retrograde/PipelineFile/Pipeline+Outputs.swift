import GStreamer
import RetrogradeEngine

extension Pipeline {
  /// File, or pattern of files, that an element writes.
  struct OutputLocation {
    var element: Element
    /// Name of the property that contains the path.
    var property: String
    var path: String
    /// True if the element writes several files, or files with other names than `path`.
    var isNumbered: Bool { element.factoryName != "filesink" }
  }

  /// Files that the sinks write, except devices and files on other machines.
  var outputLocations: [OutputLocation] {
    // `splitmuxsink` writes files, but GStreamer classifies it as a muxer, not as a sink.
    (elements(ofClass: "Sink") + elements(ofFactory: "splitmuxsink")).flatMap { sink in
      ["location", "playlist-location"].compactMap { property in
        guard let path = sink.string(property), !path.isEmpty, !path.hasPrefix("/dev/"), !path.contains("://")
        else { return nil }
        return OutputLocation(element: sink, property: property, path: path)
      }
    }
  }
}
