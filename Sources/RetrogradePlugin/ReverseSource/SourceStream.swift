import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Stream of reversesrc: its pad and its player.
///
/// Playback runs on the pad's task, under the pad's stream lock; ``Shared`` holds the data that
/// other threads access.
final class SourceStream: @unchecked Sendable {
  enum Media: Sendable {
    case video(VideoSource, Timing)
    case audio(AudioTrack)

    var caps: Caps {
      switch self {
      case .video(let source, _): source.caps
      case .audio(let track): track.caps
      }
    }
  }

  /// Range to play, and the GStreamer segment that downstream receives for this range.
  struct Order: @unchecked Sendable {
    // GstSegment is plain data.
    var segment: GstSegment
    var number: UInt32
    var from: ClockTime
    var to: ClockTime?
    var cancellation: Cancellation

    /// Position at which playback begins.
    var beginning: ClockTime { isDescending ? to ?? from : from }

    /// True if the player requests no audio because of a high speed.
    func isSilent(_ media: Media) -> Bool {
      guard case .audio = media else { return false }
      return segment.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO.rawValue != 0
    }

    /// True for a negative rate, at which later frames are output first.
    var isDescending: Bool { segment.rate < 0 }
  }

  struct Shared {
    var order: Order?
    /// True until the segment event of a new order was sent.
    var isNew = false
    var flow = GST_FLOW_OK
    /// Number of times that the pad was linked.
    var links = 0
    /// Start time of the order's first buffer; nil until known.
    var firstStart: ClockTime?
    /// True once the first buffer of the order was accepted downstream, or the order has ended
    /// without a buffer.
    var hasBegun = false
    /// True if all buffers were output, but EOS is still to be sent.
    var isFinished = false
    /// True once the order is complete.
    var isDone = false
    var position: ClockTime?
    /// The whole source, once indexed; always nil if the stream was created for the whole source.
    var whole: Part?
    /// True while the task is paused because it needs the index of the whole source.
    var awaitsWhole = false

    /// True unless a seek has replaced `order`.
    func isPlaying(_ order: Order) -> Bool { self.order?.cancellation === order.cancellation }
  }

  /// Media of a stream, in the whole source or in a time range of the source, with the order of
  /// play.
  struct Part: Sendable {
    var media: Media
    var legs: PlaybackLegs
    /// Time span of the part in the output; nil for the whole source.
    var place: TimeSpan?
  }

  let pad: UnsafeMutablePointer<GstPad>
  /// Name of the pad.
  let name: String
  /// Part that is available first: the whole source, or the end of the source.
  private let first: Part
  let tags: [TagList]
  let shared = Mutex(Shared())
  private unowned let owner: ReverseSource

  // The following properties are guarded by the stream lock.
  private var video: VideoPlayer?
  private var audio: AudioPlayer?
  /// Output time of the next buffer, if another part must supply this buffer; nil to continue the
  /// current part.
  private var partNext: ClockTime?
  /// Output time at which another part must continue after the end of the current part; nil if the
  /// order ends with the current part.
  private var partAfter: ClockTime?
  private var caps: Caps?
  private var position = ClockTime.zero
  private var isDiscontinuous = true
  /// True if downstream supports any plane layout (`GstVideoMeta`).
  private var takesLayouts = true
  /// Buffer that was not pushed because the pad was not linked.
  private var unsent: (buffer: Buffer, shown: TimeSpan)?

  init(
    _ owner: ReverseSource, _ pad: UnsafeMutablePointer<GstPad>, _ name: String, _ first: Part, _ tags: [TagList]
  ) {
    self.name = name
    self.first = first
    self.owner = owner
    self.pad = pad
    self.tags = tags
  }

  /// Caps at the start of playback.
  var firstCaps: Caps {
    switch first.media {
    case .video(let video, _): first.legs[0]?.direction == .forward ? video.caps : video.caps.mirroredFields
    case .audio(let track): track.caps
    }
  }

  func send(_ caps: Caps) {
    if self.caps?.isEqual(caps) == true { return }
    self.caps = caps
    gst_pad_push_event(pad, gst_event_new_caps(caps.raw))
  }

  /// Releases the players. The task must be paused.
  func releasePlayers() {
    warn()
    video = nil
    audio = nil
    unsent = nil
    (partNext, partAfter) = (nil, nil)
    isDiscontinuous = true
  }

  /// Switches to the whole source, which is now indexed.
  func complete(with whole: Part) {
    let waits = shared.withLock { shared in
      shared.whole = whole
      defer { shared.awaitsWhole = false }
      return shared.awaitsWhole
    }
    if waits { startTask() }
  }

  /// Switches to another part, if another part is to be played next.
  /// - Returns: false if the part is not available yet. The task is then paused until the whole
  ///   source is indexed.
  private func startNextPart(_ order: Order) throws -> Bool {
    guard let from = partNext else { return true }
    guard let part = try part(at: from, order) else { return false }
    partNext = nil
    warn()
    guard let place = part.place else {
      owner.debug("\(name): all of the source is played from \(from) on")
      play(part, order, from: from, to: order.to)
      return true
    }
    owner.debug("\(name): the source is played from \(from) to \(place.end)")
    play(part, order, from: from, to: min(order.to ?? place.end, place.end))
    if order.to.map({ $0 > place.end }) ?? true { partAfter = place.end }
    return true
  }

  /// Returns the part to play from `time` on.
  /// - Returns: nil if the whole source must be indexed first.
  private func part(at time: ClockTime, _ order: Order) throws -> Part? {
    if let place = first.place, !order.isDescending {
      if shared.withLock({ $0.whole == nil }) {
        if place.start <= time, time < place.end { return first }
        if let part = try owner.part(at: time, of: name) { return part }
      }
    } else if first.place == nil {
      return first
    }
    return shared.withLock { shared in
      if shared.whole == nil, shared.isPlaying(order) {
        shared.awaitsWhole = true
        gst_pad_pause_task(pad)
      }
      return shared.whole
    }
  }

  /// Posts warnings about missing data found during playback.
  private func warn() {
    if let video { owner.warn(of: video.warnings) }
  }

  func startTask() {
    gst_pad_start_task(
      pad,
      { data in
        guard let data else { return }
        Unmanaged<SourceStream>.fromOpaque(data).takeUnretainedValue().step()
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
  }

  /// Outputs the next buffer; the pad's task calls this repeatedly.
  private func step() {
    let (current, isNew, isLinked, links) = shared.withLock { shared -> (Order?, Bool, Bool, Int) in
      guard let order = shared.order, !order.cancellation.isCancelled else {
        // Pause under the lock, because the next order restarts the task, and a pause after that
        // restart would stop the task again.
        gst_pad_pause_task(pad)
        return (nil, false, false, 0)
      }
      let isLinked = gst_pad_is_linked(pad) != 0
      defer { if isLinked { shared.isNew = false } }
      return (order, shared.isNew, isLinked, shared.links)
    }
    guard let order = current else { return }
    // Decode nothing for an unlinked pad.
    guard isLinked else {
      stop(order, GST_FLOW_NOT_LINKED, links)
      return
    }
    if isNew { begin(order) }
    do {
      guard try startNextPart(order) else { return }
      guard let next = try unsent ?? next() else {
        partNext = partAfter.take()
        if partNext == nil { finish(order) }
        return
      }
      let isFirst = shared.withLock { shared in
        guard shared.isPlaying(order), !shared.hasBegun else { return false }
        shared.firstStart = next.shown.start
        return true
      }
      if isFirst { owner.wakeFinished() }
      let flow = give(next, order)
      if isFirst, flow == GST_FLOW_OK {
        shared.withLock { if $0.isPlaying(order) { $0.hasBegun = true } }
        owner.wakeFinished()
      }
      unsent = flow == GST_FLOW_NOT_LINKED ? next : nil
      if flow != GST_FLOW_OK { stop(order, flow, links) }
    } catch {
      let failure = error as? RetrogradeError
      if order.cancellation.isCancelled { return }
      owner.post(failure ?? RetrogradeError(.internalFailure, "\(String(describing: error))"))
      guard pause(order) else { return }
      pushEndOfStream(order)
    }
  }

  /// Pauses the task at the end of an order, and lets other finished streams send EOS.
  /// - Returns: false if there is a new order, which the task then continues with.
  private func pause(_ order: Order) -> Bool {
    let (isPaused, isFirst) = shared.withLock { shared in
      guard shared.isPlaying(order) else { return (false, false) }
      gst_pad_pause_task(pad)
      defer { shared.hasBegun = true }
      return (true, !shared.hasBegun)
    }
    // Wake the other streams only once. If each pause woke them, two finished streams would wake
    // each other until a third stream has begun.
    if isFirst { owner.wakeFinished() }
    return isPaused
  }

  private func pushEndOfStream(_ order: Order) {
    guard let event = gst_event_new_eos() else { return }
    gst_event_set_seqnum(event, order.number)
    gst_pad_push_event(pad, event)
  }

  private func begin(_ order: Order) {
    owner.debug("\(name): plays from \(order.from)")
    releasePlayers()
    var segment = order.segment
    position = order.from
    if let event = gst_event_new_segment(&segment) {
      gst_event_set_seqnum(event, order.number)
      gst_pad_push_event(pad, event)
    }
    for tags in tags { gst_pad_push_event(pad, gst_event_new_tag(gst_tag_list_ref(tags.raw))) }
    if order.isSilent(first.media) {
      let end = order.to ?? first.legs.duration ?? order.from
      gst_pad_push_event(
        pad, gst_event_new_gap(GstClockTime(order.from.raw), GstClockTime((end - order.from).raw)))
      return
    }
    partNext = order.from
  }

  private func play(_ part: Part, _ order: Order, from: ClockTime, to end: ClockTime?) {
    switch part.media {
    case .video(let source, let timing):
      video = VideoPlayer(
        source, part.legs, from: from, to: end, timing: timing, isDescending: order.isDescending, order.cancellation)
    case .audio(let track):
      audio = AudioPlayer(track, part.legs, from: from, to: end, isPadded: false, isDescending: order.isDescending)
    }
  }

  private func next() throws -> (buffer: Buffer, shown: TimeSpan)? {
    if let video {
      guard let frame = try video.next() else { return nil }
      send(frame.caps)
      return (try readable(frame.buffer, frame.caps), frame.shown)
    }
    guard let part = try audio?.next() else { return nil }
    part.buffer.stamp(pts: part.shown.start, duration: part.shown.duration)
    return (part.buffer, part.shown)
  }

  private func give(_ next: (buffer: Buffer, shown: TimeSpan), _ order: Order) -> GstFlowReturn {
    if !order.isDescending, next.shown.start > position + ClockTime(nanoseconds: 1_000_000) {
      gst_pad_push_event(
        pad, gst_event_new_gap(GstClockTime(position.raw), GstClockTime((next.shown.start - position).raw)))
    }
    if isDiscontinuous { next.buffer.markDiscontinuous() }
    isDiscontinuous = false
    position = next.shown.end
    shared.withLock { if $0.isPlaying(order) { $0.position = next.shown.start } }
    return gst_pad_push(pad, next.buffer.retained())
  }

  /// Returns the frame in a layout that downstream supports.
  private func readable(_ frame: Buffer, _ caps: Caps) throws -> Buffer {
    // Ask downstream again only if the pad's NEED_RECONFIGURE flag is set, which happens when the
    // pad is linked, and when downstream has changed.
    if gst_pad_check_reconfigure(pad) != 0 { takesLayouts = pad.peerSupports(gst_video_meta_api_get_type(), caps) }
    return takesLayouts ? frame : try frame.inPlainLayout(caps)
  }

  /// Ends the order after everything was output.
  private func finish(_ order: Order) {
    guard pause(order) else { return }
    // decodebin3 before 1.24 (952f252104) treats a stream that ends before another stream's first
    // buffer as removed, and drops the ended stream (unblock_pending_input in
    // gstdecodebin3-parse.c). Demuxers interleave their streams, so they do not cause this failure.
    // Here, wait until the other streams have started.
    guard owner.allStreamsStarted(before: position) else {
      shared.withLock { $0.isFinished = true }
      if owner.allStreamsStarted(before: position) { wakeIfFinished() }
      return
    }
    owner.debug("\(name): done")
    warn()
    shared.withLock { $0.isDone = true }
    if order.segment.flags.rawValue & GST_SEGMENT_FLAG_SEGMENT.rawValue != 0 {
      let stop = order.isDescending ? order.from : order.to ?? first.legs.duration ?? position
      if let event = gst_event_new_segment_done(GST_FORMAT_TIME, gint64(stop.nanoseconds)) {
        gst_event_set_seqnum(event, order.number)
        gst_pad_push_event(pad, event)
      }
      owner.segmentDone(at: stop, order.number)
    } else {
      pushEndOfStream(order)
    }
  }

  /// Resumes this stream if it waits for other streams before it sends EOS.
  func wakeIfFinished() {
    let waits = shared.withLock { shared in
      defer { shared.isFinished = false }
      return shared.isFinished
    }
    if waits { startTask() }
  }

  /// Pauses because the pad is not linked, or because downstream refused a buffer.
  /// - Parameter links: value of ``Shared/links`` before this step of the task.
  private func stop(_ order: Order, _ flow: GstFlowReturn, _ links: Int) {
    owner.debug("\(name): stops, \(String(cString: gst_flow_get_name(flow)))")
    let isPaused = shared.withLock { shared in
      guard shared.isPlaying(order) else { return false }
      // Another thread has linked the pad meanwhile: continue.
      if flow == GST_FLOW_NOT_LINKED, shared.links != links { return false }
      shared.flow = flow
      // Other streams must not wait for a stream that downstream does not want.
      if flow == GST_FLOW_EOS { shared.hasBegun = true }
      // Pause under the lock, so that the next link finds the task paused.
      gst_pad_pause_task(pad)
      return true
    }
    guard isPaused else { return }
    switch flow {
    case GST_FLOW_FLUSHING: break
    case GST_FLOW_NOT_LINKED:
      owner.wakeFinished()
      // A player may link the pad later or never, so report an error only if no pad is linked.
      if owner.isUnlinked { owner.fail(flow) }
    case GST_FLOW_EOS:
      owner.wakeFinished()
      pushEndOfStream(order)
    default: owner.fail(flow)
    }
  }

  /// Resumes after the pad was linked or relinked.
  func resume() {
    let wasUnlinked = shared.withLock { shared in
      shared.links += 1
      defer { if shared.flow == GST_FLOW_NOT_LINKED { shared.flow = GST_FLOW_OK } }
      return shared.flow == GST_FLOW_NOT_LINKED && !shared.isDone
    }
    if wasUnlinked { startTask() }
  }
}
