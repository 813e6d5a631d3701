import CGStreamer
package import MediaTime
import Synchronization

/// Reference to a `GstPad`.
package final class Pad: @unchecked Sendable {
  // GstPad is MT safe, like every GstObject.
  let raw: UnsafeMutablePointer<GstPad>

  init(adopting raw: UnsafeMutablePointer<GstPad>) { self.raw = raw }
  init(retaining raw: UnsafeMutablePointer<GstPad>) {
    gst_object_ref(raw)
    self.raw = raw
  }
  deinit { gst_object_unref(raw) }

  package var name: String { takeString(gst_object_get_name(raw.withObject)) ?? "" }

  /// Negotiated caps; nil before negotiation.
  package var caps: Caps? { gst_pad_get_current_caps(raw).map { Caps(adopting: $0) } }

  /// Caps that the pad's template allows.
  package var possibleCaps: Caps? { gst_pad_get_pad_template_caps(raw).map { Caps(adopting: $0) } }

  /// True if the pad's template allows the negotiated caps, or before negotiation. Demuxers may
  /// output caps that their templates lack. GStreamer does not reject such caps.
  package var declaresItsCaps: Bool {
    guard let caps, let possibleCaps else { return true }
    return caps.intersects(possibleCaps)
  }

  /// Returns the tags received on the pad so far: tags of the whole file (`isGlobal`), or tags of
  /// the stream; nil if there are none.
  package func tags(global isGlobal: Bool) -> TagList? {
    let scope = isGlobal ? GST_TAG_SCOPE_GLOBAL : GST_TAG_SCOPE_STREAM
    var result: TagList?
    var index: guint = 0
    while let event = gst_pad_get_sticky_event(raw, GST_EVENT_TAG, index) {
      var list: UnsafeMutablePointer<GstTagList>?
      gst_event_parse_tag(event, &list)
      if let list, gst_tag_list_get_scope(list) == scope {
        let next = TagList(retaining: list)
        result = result.map { $0.merging(next) } ?? next
      }
      gst_mini_object_unref(UnsafeMutableRawPointer(event).assumingMemoryBound(to: GstMiniObject.self))
      index += 1
    }
    return result
  }

  /// This pad, and the element that owns the pad. For a ghost pad, the pad's target, and the
  /// element that owns the target.
  package var origin: (element: Element, pad: Pad)? {
    var pad = Pad(retaining: raw)
    while g_type_check_instance_is_a(pad.raw.typeInstance, gst_ghost_pad_get_type()) != 0 {
      let ghost = UnsafeMutableRawPointer(pad.raw).assumingMemoryBound(to: GstGhostPad.self)
      guard let target = gst_ghost_pad_get_target(ghost) else { return nil }
      pad = Pad(adopting: target)
    }
    guard let element = gst_pad_get_parent_element(pad.raw) else { return nil }
    return (Element(adopting: element), pad)
  }

  /// Sets a property from text (`gst_util_set_object_arg`), if the property exists and has its
  /// default value.
  package func setUnlessChanged(_ property: String, _ value: String) {
    let object = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self)
    let type = object.pointee.g_type_instance.g_class.map(UnsafeMutableRawPointer.init)
    let spec = type.flatMap {
      g_object_class_find_property($0.assumingMemoryBound(to: GObjectClass.self), property)
    }
    guard let spec else { return }
    var current = GValue()
    g_value_init(&current, spec.pointee.value_type)
    defer { g_value_unset(&current) }
    g_object_get_property(object, property, &current)
    guard g_param_value_defaults(spec, &current) != 0 else { return }
    gst_util_set_object_arg(object, property, value)
  }

  /// Pad to which this pad is linked; nil if there is none.
  package var peer: Pad? { gst_pad_get_peer(raw).map { Pad(adopting: $0) } }

  /// Element and pad that this source pad is linked to. If this pad is linked to a source pad of
  /// its bin, follows the link of that pad.
  var destination: (element: Element, pad: Pad)? {
    var next = peer
    // `inside` is the inner side of the bin's source pad, so follow the link of the outer side.
    while let inside = next, g_type_check_instance_is_a(inside.raw.typeInstance, gst_ghost_pad_get_type()) == 0,
      g_type_check_instance_is_a(inside.raw.typeInstance, gst_proxy_pad_get_type()) != 0
    {
      let proxy = UnsafeMutableRawPointer(inside.raw).assumingMemoryBound(to: GstProxyPad.self)
      guard let outside = gst_proxy_pad_get_internal(proxy) else { return nil }
      next = Pad(adopting: UnsafeMutableRawPointer(outside).assumingMemoryBound(to: GstPad.self)).peer
    }
    return next?.origin
  }

  /// Links this source pad to `sink`.
  @discardableResult
  package func link(to sink: Pad) -> Bool { gst_pad_link(raw, sink.raw) == GST_PAD_LINK_OK }

  /// Calls `body` for each buffer, on the streaming thread. A buffer that `body` returns replaces
  /// the original; nil keeps the original.
  package func onBuffer(_ body: @escaping @Sendable (Buffer) -> Buffer?) { onBuffer { buffer, _ in body(buffer) } }

  /// Calls `body` for each buffer, with the pad, which `body` must not retain. A buffer that `body`
  /// returns replaces the original; nil keeps the original.
  package func onBuffer(_ body: @escaping @Sendable (Buffer, Pad) -> Buffer?) {
    addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      let raw = data.assumingMemoryBound(to: GstBuffer.self)
      if let other = body(Buffer(retaining: raw), pad) {
        gst_buffer_unref(raw)
        info.pointee.data = UnsafeMutableRawPointer(gst_buffer_ref(other.raw))
      }
      return GST_PAD_PROBE_OK
    }
  }

  /// Calls `body` for each buffer, with the pad. The pad retains `body`, which must not retain the
  /// pad. If an element pushes buffer lists, as RTP elements do, `body` is called once per buffer.
  package func watchBuffers(_ body: @escaping @Sendable (Buffer, Pad) -> Void) {
    let lists = GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
    addProbe(GstPadProbeType(GST_PAD_PROBE_TYPE_BUFFER.rawValue | lists)) { pad, info in
      if info.pointee.type.rawValue & lists != 0, let list = gst_pad_probe_info_get_buffer_list(info) {
        for index in 0..<gst_buffer_list_length(list) {
          if let buffer = gst_buffer_list_get(list, index) { body(Buffer(retaining: buffer), pad) }
        }
      } else if let data = info.pointee.data {
        body(Buffer(retaining: data.assumingMemoryBound(to: GstBuffer.self)), pad)
      }
      return GST_PAD_PROBE_OK
    }
  }

  /// Calls `body` for each buffer, with the pad, and drops the buffer. The pad retains `body`,
  /// which must not retain the pad.
  package func dropBuffers(_ body: @escaping @Sendable (Buffer, Pad) -> Void) {
    addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      body(Buffer(retaining: data.assumingMemoryBound(to: GstBuffer.self)), pad)
      return GST_PAD_PROBE_DROP
    }
  }

  /// Drops all buffers and events from now on, except flushes.
  func dropAllData() { addProbe(GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM) { _, _ in GST_PAD_PROBE_DROP } }

  /// Calls `body` with each GStreamer segment, which stays unchanged.
  func watchSegments(_ body: @escaping @Sendable (Segment) -> Void) { onSegment { body(Segment($0)) } }

  /// Most recent GStreamer segment of the stream.
  package var segment: Segment {
    guard let event = gst_pad_get_sticky_event(raw, GST_EVENT_SEGMENT, 0) else { return Segment() }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(event).assumingMemoryBound(to: GstMiniObject.self)) }
    var segment = GstSegment()
    gst_event_copy_segment(event, &segment)
    return Segment(segment)
  }

  /// Removes start and stop from each GStreamer segment, so that downstream elements clip nothing.
  /// Calls `body` with the original segment, and stores the number that `body` returns in the field
  /// `base` of the new segment. Only sinks that sync to a clock use that field.
  package func openSegments(_ body: @escaping @Sendable (Segment) -> Int) {
    onSegment { segment in
      segment.base = UInt(body(Segment(segment)))
      segment.start = 0
      segment.stop = UInt.max
      segment.time = 0
    }
  }

  private func onSegment(_ change: @escaping @Sendable (inout GstSegment) -> Void) {
    addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { _, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      let event = data.assumingMemoryBound(to: GstEvent.self)
      guard event.pointee.type == GST_EVENT_SEGMENT else { return GST_PAD_PROBE_OK }
      var segment = GstSegment()
      gst_event_copy_segment(event, &segment)
      guard segment.format == GST_FORMAT_TIME else { return GST_PAD_PROBE_OK }
      change(&segment)
      guard let changed = gst_event_new_segment(&segment) else { return GST_PAD_PROBE_OK }
      gst_event_set_seqnum(changed, gst_event_get_seqnum(event))
      gst_mini_object_unref(data.assumingMemoryBound(to: GstMiniObject.self))
      info.pointee.data = UnsafeMutableRawPointer(changed)
      return GST_PAD_PROBE_OK
    }
  }

  /// Sets the stream time of each GStreamer segment to the segment's start, if the stream time is
  /// 0.
  fileprivate func keepStartTimes() { onSegment { if $0.time == 0 { $0.time = $0.start } } }

  /// Limits each GStreamer segment that has a stop position to `end`, in stream time.
  package func endSegments(at end: ClockTime) {
    onSegment { segment in
      guard segment.stop != UInt.max, segment.time != UInt.max else { return }
      let length = UInt(max(0, end.nanoseconds))
      let stop = segment.start &+ (length > segment.time ? length - segment.time : 0)
      segment.stop = min(segment.stop, max(stop, segment.start))
    }
  }

  /// Sets start and stream time of the first GStreamer segment to 0 if the two are equal, because
  /// buffers before that start belong to the stream too.
  package func openFirstSegment() { onFirstSegment { if $0.start == $0.time { ($0.start, $0.time) = (0, 0) } } }

  /// Extends the first GStreamer segment back to the position whose stream time is 0.
  fileprivate func openFirstSegmentToItsZero() {
    onFirstSegment { segment in
      guard segment.time <= segment.start else { return }
      segment.start -= segment.time
      segment.time = 0
    }
  }

  private func onFirstSegment(_ change: @escaping @Sendable (inout GstSegment) -> Void) {
    let isFirst = Atomic(true)
    onSegment { segment in
      if isFirst.exchange(false, ordering: .relaxed) { change(&segment) }
    }
  }

  /// Replaces caps with the result of `change`; nil keeps the caps. The pad retains `change`, which
  /// must not retain the pad.
  package func onCaps(_ change: @escaping @Sendable (Caps, Pad) -> Caps?) {
    addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { pad, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      let event = data.assumingMemoryBound(to: GstEvent.self)
      guard event.pointee.type == GST_EVENT_CAPS else { return GST_PAD_PROBE_OK }
      var caps: UnsafeMutablePointer<GstCaps>?
      gst_event_parse_caps(event, &caps)
      let changed = caps.flatMap { change(Caps(retaining: $0), pad) }
      guard let changed, let other = withExtendedLifetime(changed, { gst_event_new_caps(changed.raw) }) else {
        return GST_PAD_PROBE_OK
      }
      gst_event_set_seqnum(other, gst_event_get_seqnum(event))
      gst_mini_object_unref(data.assumingMemoryBound(to: GstMiniObject.self))
      info.pointee.data = UnsafeMutableRawPointer(other)
      return GST_PAD_PROBE_OK
    }
  }

  /// Lets a decoder write frames into memory that the caller can keep without a copy. Answers the
  /// decoder's allocation query with support for any plane layout (`GstVideoMeta`) and with a pool
  /// (``FramePool``).
  ///
  /// Without `GstVideoMeta`, decoders copy every frame into the default layout, and appsink cannot
  /// announce support for that meta (`Quirk.appsinkAllocation`). Without the pool, gst-libav copies
  /// every frame whose height is not a multiple of the macroblock size, such as 1080, because
  /// gst-libav compares the display height with the height of its own pool
  /// (`gst_ffmpegviddec_decide_allocation`).
  ///
  /// The pool is offered only once for the same caps. A decoder that asks again has dropped the
  /// pool: gst-libav compares the pool's width with the coded width, such as 426 with 432, and may
  /// crash if these widths differ (`Quirk.avdecNarrowerThanCoded`). Frames of such a decoder are
  /// copied.
  ///
  /// - Parameter offersPool: false for decoders that use their own memory; frames of such decoders
  ///   are not copied.
  package func acceptFramesAnywhere(offersPool: Bool = true) {
    let offered = OfferedPools()
    addProbe(GstPadProbeType(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_PUSH.rawValue)) {
      _, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      let query = data.assumingMemoryBound(to: GstQuery.self)
      guard query.pointee.type == GST_QUERY_ALLOCATION else { return GST_PAD_PROBE_OK }
      var caps: UnsafeMutablePointer<GstCaps>?
      gst_query_parse_allocation(query, &caps, nil)
      guard let caps, !offersPool || offered.isFirst(Caps(retaining: caps)) else { return GST_PAD_PROBE_HANDLED }
      gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
      var format = GstVideoInfo()
      if offersPool, gst_video_info_from_caps(&format, caps) != 0, let pool = FramePool.make() {
        gst_query_add_allocation_pool(query, pool, guint(clamping: format.size), 0, 0)
        gst_object_unref(pool)
      }
      return GST_PAD_PROBE_HANDLED
    }
  }

  /// Calls `body` on the reading thread whenever the downstream element pulls bytes, with the
  /// offset of the first byte.
  package func onPull(_ body: @escaping @Sendable (_ offset: Int, _ pad: Pad) -> Void) {
    addPullProbe { offset, pad in
      body(offset, pad)
      return GST_PAD_PROBE_PASS
    }
  }

  /// Makes pulls through this sink pad fail from byte `size` on.
  package func failPulls(from size: Int) {
    addPullProbe { offset, _ in offset >= size ? GST_PAD_PROBE_HANDLED : GST_PAD_PROBE_PASS }
  }

  /// Adds a pad probe that is called for each pull, before any bytes are read.
  private func addPullProbe(_ body: @escaping @Sendable (_ offset: Int, _ pad: Pad) -> GstPadProbeReturn) {
    let types = [GST_PAD_PROBE_TYPE_PULL, GST_PAD_PROBE_TYPE_BLOCK, GST_PAD_PROBE_TYPE_BUFFER]
    addProbe(GstPadProbeType(types.reduce(0) { $0 | $1.rawValue })) { pad, info in
      info.pointee.data == nil ? body(Int(clamping: info.pointee.offset), pad) : GST_PAD_PROBE_PASS
    }
  }

  /// Blocks all buffers and events until the block is removed or the pad stops.
  /// - Returns: ID of the pad probe, for ``unblock(_:)``.
  @discardableResult
  package func block() -> UInt { gst_pad_add_probe(raw, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, nil, nil, nil) }

  func unblock(_ block: UInt) { gst_pad_remove_probe(raw, block) }

  /// Stops the pad: pulls from it return `GST_FLOW_FLUSHING`.
  package func stop() { gst_pad_set_active(raw, 0) }

  typealias ProbeBody = @Sendable (Pad, UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn

  /// Adds a pad probe; the pad retains `body`.
  func addProbe(_ type: GstPadProbeType, _ body: @escaping ProbeBody) {
    final class Box: Sendable {
      let body: ProbeBody
      init(_ body: @escaping ProbeBody) { self.body = body }
    }
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    gst_pad_add_probe(
      raw, type,
      { pad, info, data in
        guard let pad, let info, let data else { return GST_PAD_PROBE_OK }
        return Unmanaged<Box>.fromOpaque(data).takeUnretainedValue().body(Pad(retaining: pad), info)
      }, box,
      { data in
        if let data { Unmanaged<Box>.fromOpaque(data).release() }
      })
  }
}

extension UnsafeMutablePointer where Pointee == GstPad {
  var typeInstance: UnsafeMutablePointer<GTypeInstance> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GTypeInstance.self)
  }
}

extension Pipeline {
  /// Makes the streams of matroskademux keep the times of the file
  /// (`Quirk.matroskademuxStartTime`).
  package func keepMatroskaTimes() {
    for demuxer in elements(ofFactory: "matroskademux") { demuxer.onPadAdded { $0.keepStartTimes() } }
  }

  /// Makes flvdemux, tsdemux, qtdemux and mpegpsdemux keep packets whose times are before the start
  /// of the first GStreamer segment. Without this method, such packets are clipped.
  ///
  /// The segment may start too late in these demuxers. For audio from flvdemux and tsdemux, the
  /// segment may start at the first video frame (`Quirk.flvdemuxEarlyAudio`,
  /// `Quirk.tsdemuxEarlyAudio`). In qtdemux, the segment starts at the time of the first fragment,
  /// but packets may have earlier times. mpegpsdemux counts times from the first clock reference,
  /// but the segment may start at a later clock reference (`Quirk.mpegpsdemuxStart`). Video of FLV
  /// needs no change: frames before the first keyframe cannot be decoded.
  package func keepEarlyPackets() {
    for demuxer in elements(ofFactory: "flvdemux") {
      demuxer.onPadAdded { if $0.name == "audio" { $0.openFirstSegment() } }
    }
    for demuxer in elements(ofFactory: "tsdemux") {
      demuxer.onPadAdded { if $0.name.hasPrefix("audio_") { $0.openFirstSegment() } }
    }
    for demuxer in elements(ofFactory: "qtdemux") { demuxer.onPadAdded { $0.openFirstSegment() } }
    for demuxer in elements(ofFactory: "mpegpsdemux") { demuxer.onPadAdded { $0.openFirstSegmentToItsZero() } }
  }
}

/// Caps for which a pad has offered a frame pool.
private final class OfferedPools: Sendable {
  private let caps = Mutex<[Caps]>([])

  /// Records that a pool is offered for `asked`. Returns false if a pool was offered for the same
  /// caps before.
  func isFirst(_ asked: Caps) -> Bool {
    caps.withLock { caps in
      if caps.contains(where: asked.isEqual) { return false }
      caps.append(asked)
      return true
    }
  }
}
