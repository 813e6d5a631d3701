import GStreamer
import MediaTime
import Synchronization

/// Reads the bytes of a video's packets from the source again, on request, so that no disk space is
/// needed. Requests in the source's order need only one pass.
final class PacketReplay: Sendable {
  private let recipe: DecodingRecipe
  private let cancellation: Cancellation
  /// Running reader, and the position, in decoding order, of the next packet that the reader
  /// returns; nil if no reader is running.
  private let reading = Mutex<(output: DecoderOutput, next: Int)?>(nil)

  /// - Parameter recipe: recipe that outputs the packets as they enter the decoder
  ///   (``DecodingRecipe/ofPackets``).
  init(_ recipe: DecodingRecipe, _ cancellation: Cancellation) {
    (self.recipe, self.cancellation) = (recipe, cancellation)
  }

  /// Fills `bytes` with the packet at `place`, a position in decoding order.
  /// - Throws: ``RetrogradeError`` if the source can't be read, or if the packet's size differs
  ///   from that of `bytes`.
  func read(_ bytes: UnsafeMutableRawBufferPointer, ofPacketAt place: Int) throws {
    try reading.withLock { reading in
      // Remove the reader from the state, because the reader's position is unknown if an error is
      // thrown below.
      var known = reading.take()
      if let (output, next) = known, next > place {
        output.close()
        known = nil
      }
      let (output, next) = try known ?? (DecoderOutput(recipe, .plain, stall: ClockTime(seconds: 30)), 0)
      var sample: Sample?
      for _ in next...place { sample = try output.pull(cancellation) }
      reading = (output, place + 1)
      guard let sample, sample.buffer.size == bytes.count else {
        throw RetrogradeError(
          .damagedInput, about: recipe.source, "contained different packets when it was read again")
      }
      try sample.buffer.withBytes { bytes.copyMemory(from: $0) }
    }
  }
}
