import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Common part of videoreverse and audioreverse: a filter that holds the buffers since the segment began, and
/// gives them out at the end, last first.
///
/// Everything that streams happens under the sink pad's stream lock, as GStreamer's design document
/// part-MT-refcounting has it; ``Shared`` is for data that other threads touch too.
final class ReverseFilter: @unchecked Sendable {
  /// Functions that differ between kinds of media.
  struct Kind: Sendable {
    /// The caps of the backward output.
    var mirroredCaps: @Sendable (Caps) -> Caps
    /// Duration of a buffer by its content, where its caps tell.
    var duration: @Sendable (Buffer, Caps) -> ClockTime?
    /// The buffer as it is given out backwards.
    var mirrored: @Sendable (_ buffer: Buffer, _ caps: Caps, ClockTime?, ClockTime?) throws -> Buffer
    /// Whether buffers that follow each other may become one.
    var isMergeable: @Sendable (Caps) -> Bool
    /// Whether the last item is left out at the turn of a ping-pong.
    var dropsLast: Bool
    /// Length that is left out at the turn of a ping-pong, as far as that is known before the end.
    var turn: @Sendable (Caps, Settings) -> ClockTime?
    /// Whether it may come in memory that the processor can't read, and is copied from there.
    var isDownloaded: Bool
    /// The meta that describes layouts of the media in memory, all of which may come in.
    var layoutMeta: @Sendable () -> GType
    /// The buffer in the layout that elements without ``layoutMeta`` expect.
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
    /// A seek that was sent upstream, and where in the mirror it goes.
    var seek: (number: UInt32, time: ClockTime)?
    /// How long the turn of a ping-pong is left out, as far as caps tell.
    var turn: ClockTime?
  }

  let element: UnsafeMutablePointer<GstElement>
  let kind: Kind
  /// Settings by the user. They have a lock apart from the element's state: neither lock is taken under the
  /// other.
  private let chosen = Mutex(Settings())
  let shared = Mutex(Shared())
  let log: DebugCategory
  let sink: UnsafeMutablePointer<GstPad>
  let source: UnsafeMutablePointer<GstPad>

  // Under the stream lock.
  var held: HeldMedia?
  /// Caps of the held buffers: in ordinary memory.
  var caps: Caps?
  /// True if incoming buffers are in other memory.
  var isElsewhere = false
  var segment = GstSegment()
  var segmentNumber: UInt32 = 0
  var isSegmentSent = false
  /// The segment is one that can't be reversed.
  var isRefused = false
  var isFirst = true
  /// Whether downstream takes layouts that the meta describes; asked when caps go out.
  var takesLayouts = true
  /// Events that belong after the segment, which is sent with the first buffer.
  var waiting: [UnsafeMutablePointer<GstEvent>] = []

  var settings: Settings {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }

  /// - Parameter element: whose class has the pad templates `sink` and `src`.
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

  /// The pads call this object, which lives as long as their element does.
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

  /// After READY nothing of the last run is left.
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
