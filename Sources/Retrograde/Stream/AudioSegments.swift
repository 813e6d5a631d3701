import Containers
import GStreamer
import MediaTime
import RetrogradeEngine
import Synchronization

/// Segments of one audio stream, each encoded separately, and cut between packets of the encoder.
///
/// Each audio packet depends on neighbouring samples, so each segment is encoded with some extra
/// packets before its start and some extra samples after its end. The extra packets are then
/// discarded. The remaining packets equal those of a single encoding of the complete stream,
/// because every encoding starts at a multiple of the packet length (``PacketGrid``).
struct AudioSegments: Sendable {
  private let source: PlayableSource
  private let track: AudioTrack
  private let grid: PacketGrid
  private let encoder: SegmentEncoder
  private let header: SegmentEncoder.Header
  let initialization: [UInt8]
  let rendition: SegmentedMirror.Rendition

  /// Largest size of an AAC packet per channel, in bits (ISO/IEC 14496-3, 4.5.3.1).
  private static let mostBits = 6144

  /// - Parameter cuts: preferred start times of segments, ascending from 0. A segment starts at the
  ///   packet boundary nearest to its preferred time.
  /// - Returns: nil if no part of the track is in the output.
  init?(
    _ source: PlayableSource, _ track: AudioTrack, _ cuts: [ClockTime], called rendition: String, of name: String,
    _ settings: SegmentedMirror.Settings, _ cancellation: Cancellation
  ) throws {
    (self.source, self.track) = (source, track)
    guard let count = AudioPlayer(track, source.audioLegs, isPadded: true).sampleCount, count > 0 else { return nil }
    let options = EncodingOptions(
      quality: settings.isLossless ? .lossless : .source, audioCodec: settings.isLossless ? "alac" : "aac")
    let choice = try EncodingChoice(
      output: name, in: .segments, .init(audio: [track], duration: source.index.presentationEnd, frameRate: 0),
      options: options)
    encoder = SegmentEncoder(
      description: EncodingDescription(path: "", choice: choice).packets(.audio, 0, []),
      stream: .init(name: "audio0", caps: track.caps), kind: .audio, name: name, resources: settings.resources)
    header = try encoder.header(cancellation)
    guard header.caps.int("rate") ?? track.rate == track.rate else {
      throw RetrogradeError(
        .usage, about: name, "audio at \(track.rate) Hz can't be made into segments",
        remedy: "use \(setting: .noAudio)")
    }
    let length = header.caps.mediaType == "audio/mpeg" ? PacketGrid.AAC : PacketGrid.ALAC
    grid = PacketGrid(samples: count, packet: length, priming: header.priming, rate: track.rate, cuts: cuts)
    initialization =
      MP4Initialization(
        kind: .audio, description: header.description, timescale: track.rate, priming: header.priming, duration: count,
        language: track.tags?.string("language-code")
      ).bytes
    let packets = Double(track.rate) / Double(length)
    let overhead = Double(MP4Fragment.overhead(samples: Int(packets.rounded(.up)))) * 8
    let most =
      settings.isLossless
      ? Double(track.rate * track.bytesPerFrame * 9) : packets * Double(AudioSegments.mostBits * track.channels)
    self.rendition = .init(
      kind: .audio(channels: track.channels, sampleRate: track.rate), name: rendition, codecs: header.codecs,
      averageBandwidth: (choice.audioBitrates[0] ?? Int(most)) + Int(overhead), peakBandwidth: Int(most + overhead),
      segments: grid.times, language: track.tags?.string("language-code"), title: track.tags?.string("title"))
  }

  /// Encodes segment `number`.
  func make(_ number: Int, _ cancellation: Cancellation) throws -> [UInt8] {
    let wanted = grid.segments[number]
    let given = grid.samples(for: wanted)
    let found = Mutex<[SegmentEncoder.Packet]>([])
    _ = try encoder.encode(header, cancellation) { pipeline, sink in
      var player = AudioPlayer(track, source.audioLegs, isPadded: true)
      var ahead = try player.skip(given.lowerBound)
      var count = 0
      while count < given.count, let part = try player.next() {
        try cancellation.check()
        let from = min(ahead, part.count)
        ahead -= from
        let size = min(part.count - from, given.count - count)
        guard size > 0 else { continue }
        let buffer = try part.buffer.part(from * track.bytesPerFrame..<(from + size) * track.bytesPerFrame)
        let start = ClockTime(sampleIndex: count, rate: track.rate)
        count += size
        buffer.stamp(pts: start, duration: ClockTime(sampleIndex: count, rate: track.rate) - start)
        try pipeline.push(buffer, to: sink)
      }
      return MuxedCount.PushedData(count: count)
    } take: { packet in
      found.withLock { $0.append(packet) }
    }
    let packets = found.withLock { $0 }
    let first = wanted.lowerBound - given.lowerBound / grid.packet
    guard packets.count >= first + wanted.count else {
      throw RetrogradeError(
        .internalFailure, about: encoder.name,
        "can't be made into segments: the audio encoder produced only \(packets.count) of "
          + "\(first + wanted.count) packets")
    }
    let samples = packets[first..<first + wanted.count].enumerated().map { place, packet in
      MP4Fragment.Sample(bytes: packet.bytes, duration: grid.length(ofPacket: wanted.lowerBound + place))
    }
    return MP4Fragment(number: number + 1, start: wanted.lowerBound * grid.packet, samples: samples).bytes
  }
}
