import Containers
import GStreamer
import MediaTime
import Synchronization

/// Compares the packets that enter a decoder after a seek with the index.
///
/// A demuxer may lose bytes at the position of a seek, or give packets other times than in a pass
/// from the beginning (`Quirk.tsdemuxSeekTimes`). Decoders conceal lost bytes, and nothing else
/// shows wrong times.
///
/// It also ends the stream after the packets of a window. A decoder with a thread per frame is that
/// many packets ahead of its output, and would decode them again for the next window. With groups
/// of 30 frames that was one frame in six.
final class WindowPackets: Sendable {
  /// Packets expected after a seek.
  struct Wanted: Sendable {
    /// In decoding order, from a keyframe on.
    var packets: ArraySlice<VideoPacket> = []
    /// Largest difference between a packet's time and the index.
    var tolerance = ClockTime.zero
    /// Display time of the last indexed frame. The index of a part lacks later packets.
    var end = ClockTime(nanoseconds: .max)
    /// Display times of the frames after which the stream may end; nil to end with the source.
    var ending: [ClockTime]?
  }

  /// Progress of a window's packets.
  private struct Progress {
    let wanted: Wanted
    /// True once the seek has flushed the pad: earlier packets do not count.
    var isFlushed: Bool
    /// Place in `wanted.packets` of the next expected packet.
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

    /// Compares a packet with the next expected one of the index. Packets before the first are only
    /// decoded on the way, and packets after the last belong to no frame of the window.
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
      // Without a time, the first packet is identified by its size.
      if isFirst, isInTime == nil, !isWhole { return }
      // After a seek, qtdemux omits packets that an edit hides at its end.
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

    /// Records a packet shown at `time`. Returns true if it and all later packets are not needed.
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

  /// Time of a packet's frame, as in the index. A frame within which an edit begins is at 0; other
  /// segments begin at the target of the seek.
  private static func time(of buffer: Buffer, in segment: Segment) -> ClockTime? {
    guard let time = buffer.pts.map({ segment.streamTime(of: $0) }) else { return nil }
    return time < .zero ? buffer.presentationTime(in: segment) : time
  }

  /// True if each packet is a whole picture, so that none shown later is needed to complete it.
  var areWholePictures: Bool {
    guard let caps = pad.caps else { return false }
    return switch caps.mediaType {
    case "video/x-h264", "video/x-h265": caps.string("alignment") == "au"
    case "video/x-vp8", "video/x-vp9": true
    default: false
    }
  }

  /// True if it ended the stream since the last seek.
  var hasEnded: Bool { progress.withLock { $0?.hasEnded ?? false } }

  /// True if all expected packets came, as the index has them.
  var areComplete: Bool {
    progress.withLock { $0.map { !$0.differs && $0.next == $0.wanted.packets.endIndex } ?? true }
  }

  /// True if the first expected packet came, and no packet differed from the index.
  var haveBegun: Bool {
    progress.withLock { $0.map { !$0.differs && $0.next > $0.wanted.packets.startIndex } ?? true }
  }

  /// True if a packet differed from the index.
  var differ: Bool { progress.withLock { $0?.differs ?? false } }

  /// Sets the packets to expect after the next seek; nil for any packets.
  func expect(_ wanted: Wanted?) { progress.withLock { $0 = wanted.map { Progress($0) } } }
}
