package import CGStreamer
package import MediaTime
import CSystemSupport
import Paths

/// `GstPipeline`, usually built from a description in `gst-launch-1.0` syntax. The pipeline is set
/// to NULL when this object is released.
package final class Pipeline: @unchecked Sendable {
  // State changes of a GstElement and access to a GstBus are MT-safe.
  package let raw: UnsafeMutablePointer<GstElement>

  /// Builds the pipeline from `description` (`gst_parse_launch_full`, with fatal errors).
  /// - Throws: ``GStreamerError`` of kind `missingPlugin` if an element is not installed, of kind
  ///   `refusedValue` if a property refuses its value.
  package init(_ description: String) throws {
    try GStreamer.initialize()
    var error: UnsafeMutablePointer<GError>?
    let (parsed, warnings) = PropertyWarnings.during {
      gst_parse_launch_full(description, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error)
    }
    if let parsed, error == nil, let warning = warnings.first {
      gst_object_unref(parsed)
      throw GStreamerError(kind: .refusedValue, element: nil, message: warning, debug: nil)
    }
    guard let parsed, error == nil else {
      if let parsed { gst_object_unref(parsed) }
      throw GStreamerError(adopting: error, element: nil, debug: description)
    }
    gst_object_ref_sink(parsed)
    if g_type_check_instance_is_a(
      UnsafeMutableRawPointer(parsed).assumingMemoryBound(to: GTypeInstance.self), gst_pipeline_get_type()) != 0
    {
      raw = parsed
    } else {  // a description of one element alone
      guard let pipeline = gst_pipeline_new(nil) else {
        gst_object_unref(parsed)
        throw GStreamerError(kind: .other, element: nil, message: "GStreamer can't create a pipeline", debug: nil)
      }
      gst_object_ref_sink(pipeline)
      gst_bin_add(UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self), parsed)
      gst_object_unref(parsed)
      raw = pipeline
    }
    if description.hasRawBytes { elements.forEach { $0.setDescribedPaths() } }
    giveSignalStacks()
  }

  /// Gives each streaming thread a signal stack, so that a stack overflow can be reported. A
  /// streaming thread posts a message when it starts, and the bus's sync handler runs on that
  /// thread.
  private func giveSignalStacks() {
    guard let bus = gst_element_get_bus(raw) else { return }
    defer { gst_object_unref(bus) }
    gst_bus_set_sync_handler(
      bus,
      { _, message, _ in
        if message?.pointee.type == GST_MESSAGE_STREAM_STATUS { system_use_signal_stack() }
        return GST_BUS_PASS
      }, nil, nil)
  }

  deinit {
    gst_element_set_state(raw, GST_STATE_NULL)
    gst_object_unref(raw)
  }

  private var bin: UnsafeMutablePointer<GstBin> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBin.self)
  }

  /// Returns the element called `name`, also inside bins.
  package func element(_ name: String) -> Element? {
    gst_bin_get_by_name(bin, name).map { Element(adopting: $0) }
  }

  /// Adds an element and sets it to the pipeline's state.
  @discardableResult
  package func add(_ element: Element) -> Bool {
    guard gst_bin_add(bin, element.raw) != 0 else { return false }
    return gst_element_sync_state_with_parent(element.raw) != 0
  }

  /// Returns the elements, also inside bins, whose factory is of class `klass`, such as
  /// `Encoder/Audio`.
  package func elements(ofClass klass: String) -> [Element] {
    let wanted = klass.split(separator: "/").map(String.init)
    return elements.filter { element in wanted.allSatisfy { element.isOfClass($0) } }
  }

  /// Returns the elements of the factory `factory`, also inside bins.
  package func elements(ofFactory factory: String) -> [Element] { elements.filter { $0.factoryName == factory } }

  /// Local files in the properties `location` and `uri` of the pipeline's elements.
  package var files: [String] {
    elements.flatMap { element -> [String] in
      let named = element.string("uri").flatMap { takePath(g_filename_from_uri($0, nil, nil)) }
      return [element.string("location"), named].compactMap { $0 }
    }
  }

  /// Calls `body` for each element added from now on, also inside bins, on the thread that adds it.
  /// The pipeline retains `body`.
  package func onElementAdded(_ body: @escaping @Sendable (Element) -> Void) {
    Element(retaining: raw).onElementAdded(body)
  }

  /// Sets tags of the whole file on the muxers, or on the encoders if no muxer writes tags
  /// (`GstTagSetter`).
  package func setTags(_ tags: TagList) {
    let setters = elements(implementing: gst_tag_setter_get_type())
    let muxers = setters.filter { $0.isOfClass("Muxer") }
    // If a muxer writes the tags, leave out the encoders: an encoder passes the tags to the muxer
    // as tags of its stream, in place of the stream's own tags.
    for element in muxers.isEmpty ? setters : muxers {
      // flacenc writes cover art as blocks, so flactag must not write cover art again as comments.
      let tags = element.factoryName == "flactag" ? tags.removing(["image", "preview-image"]) : tags
      gst_tag_setter_merge_tags(OpaquePointer(element.raw), tags.raw, GST_TAG_MERGE_REPLACE)
    }
  }

  func elements(implementing interface: GType) -> [Element] {
    elements.filter { element in
      g_type_check_instance_is_a(
        UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GTypeInstance.self), interface) != 0
    }
  }

  /// True if data may still arrive. After an error, the value may remain true: some elements
  /// continue, although others pause their threads.
  ///
  /// A thread adds and starts the elements downstream before the thread itself ends. So the oldest
  /// elements are checked first, and the result is false only if no element was added meanwhile.
  package var isStreaming: Bool {
    let elements = elements
    if elements.reversed().contains(where: \.isRunning) { return true }
    return !elements.elementsEqual(self.elements) { $0.isSame(as: $1) }
  }

  /// All elements, also inside bins.
  var elements: [Element] {
    guard let iterator = gst_bin_iterate_recurse(bin) else { return [] }
    defer { gst_iterator_free(iterator) }
    var found: [Element] = []
    var value = GValue()
    while true {
      switch gst_iterator_next(iterator, &value) {
      case GST_ITERATOR_OK:
        if let object = g_value_get_object(&value) {
          found.append(Element(retaining: object.assumingMemoryBound(to: GstElement.self)))
        }
        g_value_unset(&value)
      case GST_ITERATOR_RESYNC:
        // An element was added or removed meanwhile.
        found = []
        gst_iterator_resync(iterator)
      default: return found
      }
    }
  }

  package func appSink(_ name: String) throws -> AppSink {
    guard let element = element(name), let sink = AppSink(element) else { throw missing("appsink", name) }
    return sink
  }

  package func appSource(_ name: String) throws -> AppSource {
    guard let element = element(name), let source = AppSource(element) else { throw missing("appsrc", name) }
    return source
  }

  private func missing(_ factory: String, _ name: String) -> GStreamerError {
    GStreamerError(
      kind: .other, element: nil, message: "the pipeline has no \(factory) called \(name)", debug: nil)
  }

  /// State of a pipeline.
  package enum State: Sendable {
    case null, ready, paused, playing
    var raw: GstState {
      switch self {
      case .null: GST_STATE_NULL
      case .ready: GST_STATE_READY
      case .paused: GST_STATE_PAUSED
      case .playing: GST_STATE_PLAYING
      }
    }
  }

  /// Starts a state change; a failure is also posted on the bus. `.null` takes effect before this
  /// method returns, and wakes all threads blocked in the pipeline's appsinks and appsrcs.
  @discardableResult
  package func set(_ state: State) -> Bool {
    guard state == .playing else { return change(to: state) }
    // Block the sink pads of appsinks until the pipeline plays. An appsink that is full or at EOS
    // waits for its consumer, and meanwhile holds the lock that the change from PAUSED to PLAYING
    // needs (gst_app_sink_event and gst_app_sink_render; gst_base_sink_change_state). If this
    // thread is the consumer, the wait is a deadlock with async=false.
    let pads = elements(ofFactory: "appsink").compactMap { $0.staticPad("sink") }
    let blocks = pads.map { $0.block() }
    defer { zip(pads, blocks).forEach { $0.unblock($1) } }
    return change(to: state)
  }

  private func change(to state: State) -> Bool {
    gst_element_set_state(raw, state.raw) != GST_STATE_CHANGE_FAILURE
  }

  /// Seeks all streams to `time`, with the flags FLUSH and ACCURATE.
  package func seek(to time: ClockTime) -> Bool {
    gst_element_seek(
      raw, 1.0, GST_FORMAT_TIME, GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue),
      GST_SEEK_TYPE_SET, gint64(time.nanoseconds), GST_SEEK_TYPE_NONE, -1) != 0
  }

  /// Ends the streams of all sources (`GST_EVENT_EOS`). Queued buffers are still output. Blocks
  /// until each source has delivered its buffers, so a consumer must keep pulling.
  package func endSources() { gst_element_send_event(raw, gst_event_new_eos()) }

  /// Position in stream time.
  package var position: ClockTime? {
    var value: gint64 = 0
    guard gst_element_query_position(raw, GST_FORMAT_TIME, &value) != 0, value >= 0 else { return nil }
    return ClockTime(nanoseconds: Int64(value))
  }

  /// Calls `body` with the source that a `playbin` creates, before the source starts
  /// (`source-setup`).
  package func onSourceSetup(_ body: @escaping @Sendable (Element) -> Void) {
    Element(retaining: raw).onSourceSetup(body)
  }

  /// Duration as the pipeline reports it; nil if unknown.
  package var duration: ClockTime? {
    var value: gint64 = 0
    guard gst_element_query_duration(raw, GST_FORMAT_TIME, &value) != 0, value >= 0 else { return nil }
    return ClockTime(nanoseconds: Int64(value))
  }

  /// Takes the next error, warning, EOS, element or tag message from the bus; waits up to
  /// `timeout`.
  package func nextMessage(timeout: ClockTime = .zero) -> BusMessage? {
    guard let bus = gst_element_get_bus(raw) else { return nil }
    defer { gst_object_unref(bus) }
    let types: [GstMessageType] = [
      GST_MESSAGE_ERROR, GST_MESSAGE_WARNING, GST_MESSAGE_EOS, GST_MESSAGE_ELEMENT, GST_MESSAGE_TAG,
    ]
    let mask = types.reduce(0) { $0 | $1.rawValue }
    guard let message = gst_bus_timed_pop_filtered(bus, GstClockTime(timeout.raw), GstMessageType(mask)) else {
      return nil
    }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
    return BusMessage(message)
  }

  /// First error on the bus. Reading this property removes all messages from the bus.
  package var pendingFailure: GStreamerError? {
    var failure: GStreamerError?
    while let message = nextMessage() {
      if case .failed(let error) = message { failure = failure ?? error }
    }
    return failure
  }
}

extension Pipeline {
  /// Makes the pipeline fail if a `videorate` would change the speed of frames without a frame rate
  /// (`Quirk.videorateSpeedWithoutRate`).
  package func rejectSpeedWithoutRate() {
    for element in elements(ofFactory: "videorate") where element.number("rate") ?? 1 != 1 {
      element.staticPad("sink")?.onCaps { caps, pad in
        guard caps.fraction("framerate")?.numerator == 0 else { return nil }
        pad.origin?.element.fail(
          GStreamerError(
            kind: .other, element: nil,
            message:
              "videorate can't change the speed of video without a fixed frame rate (framerate=0/1): frames would "
              + "be repeated endlessly; put videorate ! video/x-raw,framerate=30/1 before this videorate",
            debug: nil))
        // The pipeline may push more frames before it stops, and a single frame makes videorate
        // repeat frames endlessly.
        pad.dropAllData()
        return nil
      }
    }
  }
}
