import GStreamer
import RetrogradeEngine

extension Pipeline {
  /// A file, or a pattern of files, that one of its elements is told to write.
  struct OutputLocation {
    var element: Element
    /// The property that says so.
    var property: String
    var path: String
    /// Whether the element makes files of other names, or several.
    var isNumbered: Bool { element.factoryName != "filesink" }
  }

  /// The files that its sinks write; not devices, nor files on other machines.
  var outputLocations: [OutputLocation] {
    // splitmuxsink counts as a muxer.
    (elements(ofClass: "Sink") + elements(ofFactory: "splitmuxsink")).flatMap { sink in
      ["location", "playlist-location"].compactMap { property in
        guard let path = sink.string(property), !path.isEmpty, !path.hasPrefix("/dev/"), !path.contains("://")
        else { return nil }
        return OutputLocation(element: sink, property: property, path: path)
      }
    }
  }
}
