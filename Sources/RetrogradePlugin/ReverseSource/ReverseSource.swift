import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// reversesrc: source of raw streams, played backwards or in any order of play.
final class ReverseSource: ElementBody, @unchecked Sendable {
  static let log = DebugCategory("reversesrc", "Decoded streams, played backwards")

  /// State of the element.
  struct State {
    /// Cancels all current work.
    var run = Cancellation()
    var loader: Worker<Void>?
    var legs: PlaybackLegs?
    /// Parts that can be played before the whole source is indexed.
    var stretches: SourceRanges?
    var streams: [SourceStream] = []
    var segment = GstSegment()
    /// Seqnum of the segment events, EOS events and messages for the range that is being played.
    var number: UInt32 = 0
    /// Seek that was received before the streams were known.
    var early: UnsafeMutablePointer<GstEvent>?
    var segmentsDone = 0
    /// Warnings already posted.
    var warned: Set<String> = []
  }

  let element: UnsafeMutablePointer<GstElement>
  /// User settings. The lock of the settings and the lock of ``state`` are never nested.
  private let chosen = Mutex(SourceSettings())
  let state = Mutex(State())
  /// Serializes seeks and state changes; contains the seqnum of the last handled seek.
  let seeking = Mutex<UInt32?>(nil)

  init(_ element: UnsafeMutablePointer<GstElement>) {
    self.element = element
    element.asObject.pointee.flags |= GST_ELEMENT_FLAG_SOURCE.rawValue
  }

  deinit {
    if let early = state.withLock({ $0.early }) { release(early) }
  }

  var settings: SourceSettings { chosen.withLock { $0 } }
  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) {
    let value = AnyThread(value)
    chosen.withLock { $0.set(id, value.value) }
  }
  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) { settings.get(id, value) }
  func setURI(_ uri: String?) { chosen.withLock { $0.setURI(uri) } }

  var streams: [SourceStream] { state.withLock { $0.streams } }
  var legs: PlaybackLegs? { state.withLock { $0.legs } }

  // MARK: States

  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    if transition == GST_STATE_CHANGE_READY_TO_PAUSED, !load() { return GST_STATE_CHANGE_FAILURE }
    if transition == GST_STATE_CHANGE_PAUSED_TO_READY { unload() }
    let result = ElementType.parentChangeState(element, transition)
    // After this failure, the element stays in READY. Stop the work here, because no change from
    // PAUSED to READY will follow.
    if transition == GST_STATE_CHANGE_READY_TO_PAUSED, result == GST_STATE_CHANGE_FAILURE { unload() }
    return result
  }

  /// Starts a thread that indexes the source, because indexing may need a pass over the whole file.
  /// `unload` joins the thread, and always runs before this object is released: GStreamer only
  /// releases elements in NULL.
  func load() -> Bool {
    let settings = settings
    guard let path = settings.path else {
      postError(
        element, gst_resource_error_quark(), Int32(GST_RESOURCE_ERROR_NOT_FOUND.rawValue),
        settings.uri.map { "\($0): only local files can be read, such as file:///… or reverse+file:///…" }
          ?? "No URI is set.",
        debug: "uri=\(settings.uri ?? "")")
      return false
    }
    let run = Cancellation()
    do {
      let loader = try Worker("reversesrc") { [unowned self] in load(path, settings, run) }
      state.withLock {
        $0.run = run
        $0.loader = loader
      }
      return true
    } catch {
      post(error as? RetrogradeError ?? RetrogradeError(.internalFailure, "\(String(describing: error))"))
      return false
    }
  }

  func load(_ path: String, _ settings: SourceSettings, _ run: Cancellation) {
    let task = ProgressTask(element, "index")
    task.post(GST_PROGRESS_TYPE_START, "Indexing \(path)")
    do {
      var wanted = PlaybackSettings(
        try settings.playback(), count: settings.count == 0 ? nil : Int(settings.count), resources: settings.resources,
        cancellation: run)
      wanted.purpose = .watching
      let opened = try OpenedSource(path, wanted, isPlayedSoon: true)
      // Play the end and seek targets of a long file while the whole file is being indexed. The end
      // and the current seek target get a quarter of the budget each, the whole file gets half.
      let stretches = try SourceRanges(opened, wanted.shared(by: 4))
      let tail = stretches?.tail
      if let tail {
        // Complete the task now, because gst-launch-1.0 delays PLAYING while a task is running.
        task.post(GST_PROGRESS_TYPE_COMPLETE, "The end is indexed")
        state.withLock { $0.stretches = stretches }
        expose(tail.source, settings, run, as: tail)
        wanted = wanted.shared(by: 2)
      }
      let tell: @Sendable (IndexProgress) -> Void = { progress in
        if tail == nil {
          let position = progress.position
          task.post(GST_PROGRESS_TYPE_CONTINUE, "Indexed up to \(position)", ["position": UInt64(position.raw)])
        }
      }
      // Without a separately indexed end (`tail`), as for orders of play other than plain reverse,
      // the whole source must be indexed before the first frame. A quick index avoids reading all
      // data of the source if possible.
      let source =
        try tail.map { try PlayableSource(opened, wanted, until: $0.range.start, progress: tell) }
        ?? PlayableSource(quickly: opened, wanted, progress: tell)
      try run.check()
      if tail == nil { task.post(GST_PROGRESS_TYPE_COMPLETE, "Indexed") }
      ReverseSource.log.write(
        .info, "\(path): \(source.audio.count) streams of audio, \(source.legs.duration ?? .zero) long", about: element)
      warn(of: source.warnings)
      if let plan = source.video?.plan {
        postMessage(
          element,
          "retrograde-plan, method=(string)\(plan.method.rawValue), windows=(uint)\(plan.windows.count), "
            + "frames=(uint)\(plan.frameCount), frame-bytes=(guint64)\(plan.frameBytes), "
            + "memory=(guint64)\(plan.peakBytes), spool=(guint64)\(plan.peakSpoolBytes)")
      }
      if let tail { complete(tail, with: source, settings) } else { expose(source, settings, run) }
    } catch let error as RetrogradeError {
      post(error)
      task.post(GST_PROGRESS_TYPE_ERROR, "Not indexed: \(error.message.inProperties)")
    } catch {
      task.post(GST_PROGRESS_TYPE_CANCELED, "Not indexed: stopped")
    }
  }

  func unload() {
    let (run, loader) = state.withLock { ($0.run, $0.loader) }
    run.cancel()
    cancelOrders()
    // Wakes threads blocked downstream, so that the calls below do not block.
    for stream in streams { gst_pad_set_active(stream.pad, 0) }
    _ = try? loader?.join()
    forgetStretches()
    seeking.withLock { _ in
      let streams = state.withLock { state in
        defer {
          state.streams = []
          state.legs = nil
          state.loader = nil
          state.warned = []
        }
        if let early = state.early { release(early) }
        state.early = nil
        return state.streams
      }
      for stream in streams {
        gst_pad_set_active(stream.pad, 0)
        gst_pad_stop_task(stream.pad)
        stream.releasePlayers()
        gst_element_remove_pad(element, stream.pad)
      }
    }
  }

  func cancelOrders() {
    for stream in streams { stream.shared.withLock { $0.order?.cancellation }?.cancel() }
  }

  /// Returns the streams of a source, with their tags and pad names.
  func media(
    of source: PlayableSource, _ settings: SourceSettings
  ) -> [(SourceStream.Media, TagList?, String)] {
    var media: [(SourceStream.Media, TagList?, String)] = []
    if let video = source.video { media.append((.video(video, settings.timing), video.video.tags, "video_0")) }
    for (index, track) in source.audio.enumerated() { media.append((.audio(track), track.tags, "audio_\(index)")) }
    return media
  }

  /// Creates the pads, announces the streams, and starts playback.
  /// - Parameter stretch: part that `source` covers, if other parts follow; nil if `source` is the
  ///   whole source.
  func expose(
    _ source: PlayableSource, _ settings: SourceSettings, _ run: Cancellation, as stretch: SourceRange? = nil
  ) {
    // Stream IDs are stable for the same URI, because editors identify streams by ID (the design of
    // gst_pad_create_stream_id).
    guard let upstream = g_compute_checksum_for_string(G_CHECKSUM_SHA256, settings.uri ?? "", -1),
      let collection = gst_stream_collection_new(upstream)
    else { return }
    defer {
      g_free(upstream)
      gst_object_unref(collection)
    }
    let group = gst_util_group_id_next()
    var media = media(of: source, settings)
    if let wanted = capsOfParent {
      // uridecodebin would look for a decoder of unwanted raw streams, and fail because none
      // exists. (GES has a uridecodebin for each track.)
      media = media.filter { $0.0.caps.intersects(wanted) }
    }

    let streams = media.compactMap { media, own, name -> (SourceStream, UnsafeMutablePointer<GstStream>)? in
      let (template, type) =
        if case .video = media { ("video_%u", GST_STREAM_TYPE_VIDEO) } else { ("audio_%u", GST_STREAM_TYPE_AUDIO) }
      guard let pad = makePad(template, name) else { return nil }
      let tags = [own, source.index.tags].compactMap { $0 }
      let part = SourceStream.Part(media: media, legs: source.legs, place: stretch?.place(of: media))
      let stream = SourceStream(self, pad, name, part, tags)
      let id = String(cString: upstream) + "/" + name
      let caps = stream.firstCaps
      guard
        let described = withExtendedLifetime(caps, { gst_stream_new(id, caps.raw, type, GST_STREAM_FLAG_SELECT) })
      else { return nil }
      if let own { gst_stream_set_tags(described, own.raw) }
      gst_stream_collection_add_stream(collection, retainObject(described))
      return (stream, described)
    }
    for (stream, described) in streams {
      gst_pad_set_active(stream.pad, 1)
      if let start = gst_event_new_stream_start(gst_stream_get_stream_id(described)) {
        gst_event_set_group_id(start, group)
        gst_event_set_stream(start, described)
        gst_pad_push_event(stream.pad, start)
      }
      stream.send(stream.firstCaps)
      gst_pad_push_event(stream.pad, gst_event_new_stream_collection(collection))
      gst_object_unref(described)
    }
    let early = seeking.withLock { _ in
      state.withLock { state in
        state.legs = source.legs
        state.streams = streams.map(\.0)
        gst_segment_init(&state.segment, GST_FORMAT_TIME)
        if let length = source.legs.duration { state.segment.duration = guint64(length.raw) }
        defer { state.early = nil }
        return state.early
      }
    }
    gst_element_post_message(element, gst_message_new_stream_collection(element.asObject, collection))
    for (stream, _) in streams { gst_element_add_pad(element, stream.pad) }
    gst_element_no_more_pads(element)
    seeking.withLock { last in
      if run.isCancelled { return }
      // A seek received while the pads were being added has already started playback.
      if streams.contains(where: { $0.0.shared.withLock { $0.order != nil } }) { return }
      if let early {
        if apply(early, isFlushing: false) { last = gst_event_get_seqnum(early) }
      } else {
        order(number: gst_util_seqnum_next())
      }
    }
    if let early { release(early) }
  }

  /// Property `caps` of the parent element, such as a uridecodebin; nil if the parent has no such
  /// property.
  var capsOfParent: Caps? {
    guard let parent = gst_object_get_parent(element.asObject) else { return nil }
    defer { gst_object_unref(parent) }
    let object = UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GObject.self)
    guard let klass = object.pointee.g_type_instance.g_class,
      let property = g_object_class_find_property(
        UnsafeMutableRawPointer(klass).assumingMemoryBound(to: GObjectClass.self), "caps"),
      property.pointee.value_type == gst_caps_get_type()
    else { return nil }
    var value = GValue()
    g_value_init(&value, gst_caps_get_type())
    defer { g_value_unset(&value) }
    g_object_get_property(object, "caps", &value)
    guard let caps = gst_value_get_caps(&value) else { return nil }
    return Caps(retaining: UnsafeMutablePointer(mutating: caps))
  }

  func makePad(_ template: String, _ name: String) -> UnsafeMutablePointer<GstPad>? {
    guard let found = gst_element_get_pad_template(element, template), let pad = gst_pad_new_from_template(found, name)
    else { return nil }
    gst_pad_set_event_function_full(
      pad, { pad, _, event in ReverseSource.of(pad)?.event(event, on: pad) ?? 0 }, nil, nil)
    gst_pad_set_query_function_full(
      pad,
      { pad, parent, query in
        ReverseSource.of(pad)?.query(query, on: pad) ?? gst_pad_query_default(pad, parent, query)
      }, nil, nil)
    return pad
  }

  private static func of(_ pad: UnsafeMutablePointer<GstPad>?) -> ReverseSource? {
    guard let pad, let parent = gst_object_get_parent(pad.asObject) else { return nil }
    defer { gst_object_unref(parent) }
    return ElementType.body(of: parent) as? ReverseSource
  }

  func stream(of pad: UnsafeMutablePointer<GstPad>) -> SourceStream? { streams.first { $0.pad == pad } }

  // MARK: Playing

  /// Starts playback of the GStreamer segment on every stream.
  func order(number: UInt32) {
    let (segment, streams) = state.withLock { state in
      state.segmentsDone = 0
      state.number = number
      return (state.segment, state.streams)
    }
    let run = Cancellation()
    for stream in streams {
      stream.shared.withLock { shared in
        shared.order = SourceStream.Order(
          segment: segment, number: number, from: ClockTime(raw: UInt(segment.start)) ?? .zero,
          to: ClockTime(raw: UInt(segment.stop)), cancellation: run)
        shared.isNew = true
        shared.position = nil
        shared.hasBegun = false
        shared.firstStart = nil
        shared.isFinished = false
        shared.isDone = false
        shared.flow = GST_FLOW_OK
      }
      stream.startTask()
    }
  }

  /// True if every linked stream with data before `time` has output its first buffer.
  func allStreamsStarted(before time: ClockTime) -> Bool {
    streams.allSatisfy { stream in
      stream.shared.withLock { shared in
        // Do not wait for a stream that starts at `time` or later. It may be blocked until the
        // calling stream ends, because a muxer accepts buffers in the order of their times.
        shared.hasBegun || shared.flow == GST_FLOW_NOT_LINKED || shared.firstStart.map { $0 >= time } ?? false
      }
    }
  }

  /// Makes finished streams check again whether they may send EOS.
  func wakeFinished() { streams.forEach { $0.wakeIfFinished() } }

  /// True if no stream is linked. A pad linked to a bin's ghost pad counts as linked, because
  /// editors may link the bin later.
  var isUnlinked: Bool { streams.allSatisfy { gst_pad_is_linked($0.pad) == 0 } }

  func fail(_ flow: GstFlowReturn) {
    postFlowError(element, flow)
    let number = state.withLock { $0.number }
    for stream in streams { push(gst_event_new_eos(), number, stream) }
  }

  /// Counts a stream that has finished a segment seek. The last such stream posts SEGMENT_DONE.
  func segmentDone(at stop: ClockTime, _ number: UInt32) {
    let isLast = state.withLock { state in
      guard state.number == number else { return false }
      state.segmentsDone += 1
      return state.segmentsDone == state.streams.count
    }
    guard isLast,
      let message = gst_message_new_segment_done(element.asObject, GST_FORMAT_TIME, gint64(stop.nanoseconds))
    else { return }
    gst_message_set_seqnum(message, number)
    gst_element_post_message(element, message)
  }
}

func retainObject(_ stream: UnsafeMutablePointer<GstStream>) -> UnsafeMutablePointer<GstStream> {
  gst_object_ref(stream)
  return stream
}
