import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Implementation shared by videoreverse and audioreverse: stores all buffers of a GStreamer
/// segment, and outputs them at the end of that segment, last first.
///
/// All streaming work happens under the sink pad's stream lock, as in GStreamer's design document
/// part-MT-refcounting. ``Shared`` holds the data that other threads access.
final class ReverseFilter: @unchecked Sendable {
  /// Functions that depend on the media type.
  struct Kind: Sendable {
    /// Returns the caps of the backward output.
    var mirroredCaps: @Sendable (Caps) -> Caps
    /// Returns the duration of a buffer from its content; nil if unknown.
    var duration: @Sendable (Buffer, Caps) -> ClockTime?
    /// Returns the buffer for the backward output.
    var mirrored: @Sendable (_ buffer: Buffer, _ caps: Caps, ClockTime?, ClockTime?) throws -> Buffer
    /// Returns true if consecutive buffers may be merged.
    var isMergeable: @Sendable (Caps) -> Bool
    /// True if a ping-pong (playback forwards, then backwards) outputs the last buffer only once,
    /// at its turn.
    var dropsLast: Bool
    /// Returns the duration that the backward half of a ping-pong leaves out, at the end of the
    /// source; nil if unknown before the end.
    var turn: @Sendable (Caps, Settings) -> ClockTime?
    /// True if input may be in GPU memory; such input is copied into system memory.
    var isDownloaded: Bool
    /// Meta that describes memory layouts; all layouts are accepted as input.
    var layoutMeta: @Sendable () -> GType
    /// Returns the buffer in the default layout of its caps, for elements that ignore
    /// ``layoutMeta``.
    var plain: @Sendable (_ buffer: Buffer, _ caps: Caps) throws -> Buffer
  }

  struct Settings: Sendable {
    var memoryBudget = UInt64(512 << 20)
    var spoolDirectory: String?
    var isPingPong = false
    var turnDuration = ClockTime.zero
  }

  struct Shared {
    /// Position of the output, in stream time.
    var position: ClockTime?
    /// Seek that was sent upstream, and its target in the output.
    var seek: (number: UInt32, time: ClockTime)?
    /// Duration that the backward half of a ping-pong leaves out, at the end of the source; nil if
    /// the caps do not determine it.
    var turn: ClockTime?
  }

  let element: UnsafeMutablePointer<GstElement>
  let kind: Kind
  /// User settings. The lock of the settings and the lock of ``shared`` are never nested.
  private let chosen = Mutex(Settings())
  let shared = Mutex(Shared())
  let log: DebugCategory
  let sink: UnsafeMutablePointer<GstPad>
  let source: UnsafeMutablePointer<GstPad>

  // The following properties are guarded by the stream lock.
  var held: BufferedMedia?
  /// Caps of the stored buffers, changed to system memory.
  var caps: Caps?
  /// True if input buffers are not in system memory.
  var isElsewhere = false
  var segment = GstSegment()
  var segmentNumber: UInt32 = 0
  var isSegmentSent = false
  /// True if the GStreamer segment cannot be reversed.
  var isRefused = false
  var isFirst = true
  /// True if downstream supports the layout meta; checked when the source pad is linked, and when
  /// downstream has changed.
  var takesLayouts = true
  /// Events to send after the segment event, which is sent just before the first buffer.
  var waiting: [UnsafeMutablePointer<GstEvent>] = []

  var settings: Settings {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }

  /// - Parameter element: GStreamer element whose class has the pad templates `sink` and `src`.
  init(_ element: UnsafeMutablePointer<GstElement>, _ kind: Kind, _ log: DebugCategory) {
    self.element = element
    self.kind = kind
    self.log = log
    func pad(_ name: String) -> UnsafeMutablePointer<GstPad> {
      gst_pad_new_from_template(gst_element_get_pad_template(element, name), name)
    }
    sink = pad("sink")
    source = pad("src")
    gst_segment_init(&segment, GST_FORMAT_UNDEFINED)
    connect()
  }

  /// Connects the pads to this object, which lives as long as the element.
  func connect() {
    let me = Unmanaged.passUnretained(self).toOpaque()
    for pad in [sink, source] {
      gst_pad_set_element_private(pad, me)
      // GST_PAD_SET_PROXY_CAPS
      pad.asObject.pointee.flags |= GST_PAD_FLAG_PROXY_CAPS.rawValue
    }
    gst_pad_set_chain_function_full(
      sink, { pad, _, buffer in ReverseFilter.of(pad)?.chain(buffer) ?? GST_FLOW_ERROR }, nil, nil)
    gst_pad_set_event_function_full(
      sink, { pad, _, event in ReverseFilter.of(pad)?.sinkEvent(event) ?? 0 }, nil, nil)
    gst_pad_set_query_function_full(
      sink, { pad, _, query in ReverseFilter.of(pad)?.sinkQuery(query) ?? 0 }, nil, nil)
    gst_pad_set_event_function_full(
      source, { pad, _, event in ReverseFilter.of(pad)?.sourceEvent(event) ?? 0 }, nil, nil)
    gst_pad_set_query_function_full(
      source, { pad, _, query in ReverseFilter.of(pad)?.sourceQuery(query) ?? 0 }, nil, nil)
    gst_element_add_pad(element, sink)
    gst_element_add_pad(element, source)
  }

  private static func of(_ pad: UnsafeMutablePointer<GstPad>?) -> ReverseFilter? {
    pad.flatMap { gst_pad_get_element_private($0) }.map {
      Unmanaged<ReverseFilter>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Changes the state; resets everything on the way from PAUSED to READY.
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    let result = ElementType.parentChangeState(element, transition)
    if transition == GST_STATE_CHANGE_PAUSED_TO_READY { reset() }
    return result
  }

  func reset() {
    held = nil
    dropWaiting()
    caps = nil
    isElsewhere = false
    isSegmentSent = false
    isRefused = false
    isFirst = true
    gst_segment_init(&segment, GST_FORMAT_UNDEFINED)
    shared.withLock {
      $0.position = nil
      $0.seek = nil
      $0.turn = nil
    }
  }
}
