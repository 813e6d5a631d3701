import GStreamer
import RetrogradeEngine

extension Pipeline {
  /// File, or pattern of files, that an element writes.
  struct OutputLocation {
    var element: Element
    /// Property of the element that holds the path.
    var property: String
    var path: String
    /// True if the element writes several files, or files of other names.
    var isNumbered: Bool { element.factoryName != "filesink" }
  }

  /// Files that the sinks write, without devices and files on other machines.
  var outputLocations: [OutputLocation] {
    // splitmuxsink has the class of a muxer.
    (elements(ofClass: "Sink") + elements(ofFactory: "splitmuxsink")).flatMap { sink in
      ["location", "playlist-location"].compactMap { property in
        guard let path = sink.string(property), !path.isEmpty, !path.hasPrefix("/dev/"), !path.contains("://")
        else { return nil }
        return OutputLocation(element: sink, property: property, path: path)
      }
    }
  }
}
