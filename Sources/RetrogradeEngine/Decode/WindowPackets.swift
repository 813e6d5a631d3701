import Containers
import GStreamer
import MediaTime
import Synchronization

/// Checks that the packets that enter a decoder after a seek are those of the index.
///
/// After a seek, a demuxer may lose bytes, or give packets other times than in a pass from the
/// beginning (`Quirk.tsdemuxSeekTimes`). Decoders conceal lost bytes, so only this comparison shows
/// lost bytes and wrong times.
///
/// This type also ends the stream after the packets of a window. A decoder with frame threads reads
/// one packet per thread ahead of its output, and would decode the same packets again for the next
/// window. With groups of 30 frames, one frame in six was decoded twice.
final class WindowPackets: Sendable {
  /// Packets expected after a seek.
  struct Wanted: Sendable {
    /// Expected packets in decoding order, starting with a keyframe.
    var packets: ArraySlice<VideoPacket> = []
    /// Largest allowed difference between a packet's time and its time in the index.
    var tolerance = ClockTime.zero
    /// Display time of the last indexed frame. Later packets are not compared, because they are not
    /// in the index if only a part of the source is indexed.
    var end = ClockTime(nanoseconds: .max)
    /// Display times of the wanted frames. The stream may end after the packets of these frames. If
    /// this is nil, the stream ends with the source.
    var ending: [ClockTime]?
  }

  /// Progress of comparing the packets that enter the decoder with the wanted packets.
  private struct Progress {
    let wanted: Wanted
    /// True once the seek has flushed the pad. Packets that come before the flush are ignored.
    var isFlushed: Bool
    /// Position in `wanted.packets` of the next expected packet.
    var next: Int
    var differs = false
    var hasCome: [Bool]
    var missing: Int
    var hasEnded = false
    /// Caps of the current packets, and the counter of picture bytes for them.
    private var pictures: (caps: Caps, bytes: PictureBytes)?

    init(_ wanted: Wanted, isFlushed: Bool = false) {
      self.wanted = wanted
      self.isFlushed = isFlushed
      next = wanted.packets.startIndex
      missing = wanted.ending?.count ?? 0
      hasCome = Array(repeating: false, count: missing)
    }

    /// Compares a packet with the next expected one. Packets before the first expected packet are
    /// ignored, because they are decoded only for later packets that depend on them. Packets after
    /// the last expected packet are ignored too, because they belong to no frame of the window.
    mutating func compare(_ buffer: Buffer, in segment: Segment, _ caps: Caps) {
      guard !differs, wanted.packets.indices.contains(next) else { return }
      let packet = wanted.packets[next]
      let time =
        packet.time == nil
        ? buffer.dts.map { segment.streamTime(of: $0) } : WindowPackets.time(of: buffer, in: segment)
      if let time, time - wanted.tolerance > wanted.end { return }
      let known = packet.isHidden ? nil : packet.time ?? packet.decodingTime
      let isInTime = known.map { known in
        time.map { ($0 - known).nanoseconds.magnitude <= wanted.tolerance.nanoseconds.magnitude } ?? false
      }
      let isFirst = next == wanted.packets.startIndex
      if isFirst, isInTime == false { return }
      let pictures = pictures.flatMap { $0.caps.isEqual(caps) ? $0.bytes : nil } ?? PictureBytes(caps)
      self.pictures = (caps, pictures)
      let bytes = try? buffer.withBytes { pictures.count(in: $0) }
      let isWhole = packet.pictureBytes.map { $0 == bytes } ?? true
      // If the first expected packet has no time, it is recognised by its size: ignore packets of
      // another size.
      if isFirst, isInTime == nil, !isWhole { return }
      // After a seek, qtdemux omits packets that the end of an edit hides. So if a hidden packet
      // does not match, compare with the next expected packet.
      if packet.isHidden, !isWhole {
        next += 1
        return compare(buffer, in: segment, caps)
      }
      differs = isInTime == false || !isWhole
      if differs {
        Log.window.debug(
          "packet \(next) at \(time as Any) with \(bytes as Any) bytes of pictures differs from the index: "
            + "\(known as Any), \(packet.pictureBytes as Any)")
      }
      next += 1
    }

    /// Records a packet whose frame is displayed at `time`.
    /// - Returns: true if neither this packet nor any later one is needed.
    mutating func ends(at time: ClockTime) -> Bool {
      guard let starts = wanted.ending else { return false }
      let place = starts.endOfPrefix { $0 + wanted.tolerance < time }
      if place < starts.count, starts[place] <= time + wanted.tolerance {
        if !hasCome[place] { missing -= 1 }
        hasCome[place] = true
      }
      hasEnded = hasEnded || missing == 0 && place == starts.count
      return hasEnded
    }
  }

  private let pad: Pad
  private let progress = Mutex<Progress?>(nil)

  /// - Parameter pad: sink pad of the decoder. The pipeline must not have started.
  init(_ pad: Pad) {
    self.pad = pad
    pad.onFlush { [weak self] in
      self?.progress.withLock { $0 = $0.map { Progress($0.wanted, isFlushed: true) } }
    }
    pad.endStream { [weak self] buffer, segment in
      guard let self, !buffer.isCodecHeader else { return .continues }
      return progress.withLock { progress in
        guard progress?.isFlushed ?? false, let caps = self.pad.caps else { return .continues }
        progress?.compare(buffer, in: segment, caps)
        let isEnd = WindowPackets.time(of: buffer, in: segment).map { progress?.ends(at: $0) ?? false }
        return isEnd ?? false ? .allHaveEnded : .continues
      }
    }
  }

  /// Returns the display time of a packet's frame, as in the index. If an edit begins within the
  /// frame, the time is 0. Other frames are not clipped to the GStreamer segment, because the
  /// GStreamer segment begins at the target of the seek.
  private static func time(of buffer: Buffer, in segment: Segment) -> ClockTime? {
    guard let time = buffer.pts.map({ segment.streamTime(of: $0) }) else { return nil }
    return time < .zero ? buffer.presentationTime(in: segment) : time
  }

  /// True if each packet is a complete picture, so that no later packet is needed to complete a
  /// picture.
  var areWholePictures: Bool {
    guard let caps = pad.caps else { return false }
    return switch caps.mediaType {
    case "video/x-h264", "video/x-h265": caps.string("alignment") == "au"
    case "video/x-vp8", "video/x-vp9": true
    default: false
    }
  }

  /// True if this object ended the stream after the last seek.
  var hasEnded: Bool { progress.withLock { $0?.hasEnded ?? false } }

  /// True if all expected packets entered the decoder, as the index describes them.
  var areComplete: Bool {
    progress.withLock { $0.map { !$0.differs && $0.next == $0.wanted.packets.endIndex } ?? true }
  }

  /// True if the first expected packet entered the decoder, and no packet differed from the index.
  var haveBegun: Bool {
    progress.withLock { $0.map { !$0.differs && $0.next > $0.wanted.packets.startIndex } ?? true }
  }

  /// True if a packet differed from the index.
  var differ: Bool { progress.withLock { $0?.differs ?? false } }

  /// Sets the packets that are expected after the next seek; nil to expect any packets.
  func expect(_ wanted: Wanted?) { progress.withLock { $0 = wanted.map { Progress($0) } } }
}
