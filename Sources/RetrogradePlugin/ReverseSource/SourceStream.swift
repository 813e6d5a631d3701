import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// One stream of reversesrc: its pad, and its player.
///
/// Playing happens on the pad's task, under its stream lock; ``Shared`` is for data that other threads touch
/// too.
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

  /// Order to play: its start and end, and the segment that says so downstream.
  struct Order: @unchecked Sendable {
    // GstSegment is plain data.
    var segment: GstSegment
    var number: UInt32
    var from: ClockTime
    var to: ClockTime?
    var cancellation: Cancellation

    /// Position at which it begins.
    var beginning: ClockTime { isDescending ? to ?? from : from }

    /// Players that go too fast for audio ask for none of it.
    func isSilent(_ media: Media) -> Bool {
      guard case .audio = media else { return false }
      return segment.flags.rawValue & GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO.rawValue != 0
    }

    /// Players ask for that with a rate below 0: later frames are given first.
    var isDescending: Bool { segment.rate < 0 }
  }

  struct Shared {
    var order: Order?
    /// The order has just been given: the segment is still to be sent.
    var isNew = false
    var flow = GST_FLOW_OK
    /// How often the pad was linked, or linked anew.
    var links = 0
    /// When the first buffer of the order is shown; nil while that is not known.
    var firstStart: ClockTime?
    /// The first buffer of the order was taken, or there is none.
    var hasBegun = false
    /// Nothing is left to give out, but the end is still to be said.
    var isFinished = false
    /// Everything of the order was given out.
    var isDone = false
    var position: ClockTime?
    /// The whole source, once it is known, if the stream was made of its end.
    var whole: Part?
    /// The task has paused, since the whole is wanted.
    var awaitsWhole = false

    /// Whether no seek has put another order in the place of this one.
    func isPlaying(_ order: Order) -> Bool { self.order?.cancellation === order.cancellation }
  }

  /// A stream of all of the source, or of a stretch of it, and the order of play.
  struct Part: Sendable {
    var media: Media
    var legs: PlaybackLegs
    /// Place of that stretch in the order of play; nil for all of it.
    var place: TimeSpan?
  }

  let pad: UnsafeMutablePointer<GstPad>
  /// The pad's.
  let name: String
  /// The part that is known first: all of the source, or its end.
  private let first: Part
  let tags: [TagList]
  let shared = Mutex(Shared())
  private unowned let owner: ReverseSource

  // Under the stream lock.
  private var video: VideoPlayer?
  private var audio: AudioPlayer?
  /// Time from which another part is played, next, or after the present one.
  private var partNext: ClockTime?
  private var partAfter: ClockTime?
  private var caps: Caps?
  private var position = ClockTime.zero
  private var isDiscontinuous = true
  /// Whether downstream knows that planes may lie anywhere (`GstVideoMeta`).
  private var takesLayouts = true
  /// Buffer that was not taken, since the pad was not linked.
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

  /// The caps at the start of play.
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

  /// Releases the players. The task must have paused.
  func rest() {
    warn()
    video = nil
    audio = nil
    unsent = nil
    (partNext, partAfter) = (nil, nil)
    isDiscontinuous = true
  }

  /// Takes over the whole source, which is now known.
  func complete(with whole: Part) {
    let waits = shared.withLock { shared in
      shared.whole = whole
      defer { shared.awaitsWhole = false }
      return shared.awaitsWhole
    }
    if waits { startTask() }
  }

  /// Goes over to another part where that is to be played next.
  /// - Returns: false where it is not known yet: the task has paused until it is.
  private func goOn(_ order: Order) throws -> Bool {
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

  /// Part that is played from `time` on.
  /// - Returns: nil where that is not known before all of the source is.
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

  /// Warns of missing data that was found on the way.
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

  /// Gives out the next buffer; repeated by the task.
  private func step() {
    let (current, isNew, isLinked, links) = shared.withLock { shared -> (Order?, Bool, Bool, Int) in
      guard let order = shared.order, !order.cancellation.isCancelled else {
        // Under the lock: the next order starts the task again, and must not be overtaken.
        gst_pad_pause_task(pad)
        return (nil, false, false, 0)
      }
      let isLinked = gst_pad_is_linked(pad) != 0
      defer { if isLinked { shared.isNew = false } }
      return (order, shared.isNew, isLinked, shared.links)
    }
    guard let order = current else { return }
    // A pad that is not linked costs no decoding.
    guard isLinked else {
      stop(order, GST_FLOW_NOT_LINKED, links)
      return
    }
    if isNew { begin(order) }
    do {
      guard try goOn(order) else { return }
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
      sayEnd(order)
    }
  }

  /// Pauses the task, and lets others that have ended say so: of this order nothing more comes.
  /// - Returns: false, if there is another order by now: then the task goes on with that.
  private func pause(_ order: Order) -> Bool {
    let (isPaused, isFirst) = shared.withLock { shared in
      guard shared.isPlaying(order) else { return (false, false) }
      gst_pad_pause_task(pad)
      defer { shared.hasBegun = true }
      return (true, !shared.hasBegun)
    }
    // Only once, or two that have ended would wake each other for as long as a third has not begun.
    if isFirst { owner.wakeFinished() }
    return isPaused
  }

  private func sayEnd(_ order: Order) {
    guard let event = gst_event_new_eos() else { return }
    gst_event_set_seqnum(event, order.number)
    gst_pad_push_event(pad, event)
  }

  private func begin(_ order: Order) {
    owner.debug("\(name): plays from \(order.from)")
    rest()
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

  /// The frame as downstream can read it.
  private func readable(_ frame: Buffer, _ caps: Caps) throws -> Buffer {
    // Set when the pad is linked, and whenever downstream has changed.
    if gst_pad_check_reconfigure(pad) != 0 { takesLayouts = pad.peerTakes(gst_video_meta_api_get_type(), caps) }
    return takesLayouts ? frame : try frame.inPlainLayout(caps)
  }

  /// Ends the order when everything was given out.
  private func finish(_ order: Order) {
    guard pause(order) else { return }
    // decodebin3 before 1.24 (952f252104) takes a stream that ends before the first buffer of another came for one that was
    // removed, and drops it (unblock_pending_input in gstdecodebin3-parse.c). A demuxer, which interleaves, never gets there.
    guard owner.haveAllBegun(before: position) else {
      shared.withLock { $0.isFinished = true }
      if owner.haveAllBegun(before: position) { wakeIfFinished() }
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
      sayEnd(order)
    }
  }

  /// Goes on, if it waits for others before it says that it has ended.
  func wakeIfFinished() {
    let waits = shared.withLock { shared in
      defer { shared.isFinished = false }
      return shared.isFinished
    }
    if waits { startTask() }
  }

  /// Downstream takes no more.
  /// - Parameter links: how often the pad had been linked when it was asked.
  private func stop(_ order: Order, _ flow: GstFlowReturn, _ links: Int) {
    owner.debug("\(name): stops, \(String(cString: gst_flow_get_name(flow)))")
    let isPaused = shared.withLock { shared in
      guard shared.isPlaying(order) else { return false }
      // Linked meanwhile, by another thread: go on.
      if flow == GST_FLOW_NOT_LINKED, shared.links != links { return false }
      shared.flow = flow
      // No thread is to wait for a stream that is not wanted.
      if flow == GST_FLOW_EOS { shared.hasBegun = true }
      // Under the lock, so that the next linking finds it paused.
      gst_pad_pause_task(pad)
      return true
    }
    guard isPaused else { return }
    switch flow {
    case GST_FLOW_FLUSHING: break
    case GST_FLOW_NOT_LINKED:
      owner.wakeFinished()
      // A player may link the pad later, or never: it is an error only if no pad is linked at all.
      if owner.isUnlinked { owner.fail(flow) }
    case GST_FLOW_EOS:
      owner.wakeFinished()
      sayEnd(order)
    default: owner.fail(flow)
    }
  }

  /// The pad was linked, or linked anew: go on from here.
  func resume() {
    let wasUnlinked = shared.withLock { shared in
      shared.links += 1
      defer { if shared.flow == GST_FLOW_NOT_LINKED { shared.flow = GST_FLOW_OK } }
      return shared.flow == GST_FLOW_NOT_LINKED && !shared.isDone
    }
    if wasUnlinked { startTask() }
  }
}
