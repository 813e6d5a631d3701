import GStreamer
import MediaTime
import Synchronization

/// The bytes of a video's packets, read from the source again on request. Requests in the source's
/// order take one pass. Needs no disk space.
final class PacketReplay: Sendable {
  private let recipe: DecodingRecipe
  private let cancellation: Cancellation
  /// Running reader, and the place of the packet that it returns next.
  private let reading = Mutex<(output: DecoderOutput, next: Int)?>(nil)

  /// - Parameter recipe: outputs the packets as they enter the decoder
  ///   (``DecodingRecipe/ofPackets``).
  init(_ recipe: DecodingRecipe, _ cancellation: Cancellation) {
    (self.recipe, self.cancellation) = (recipe, cancellation)
  }

  /// Fills `bytes` with the packet at `place`.
  /// - Throws: ``RetrogradeError`` if the source can't be read, or the packet has another size.
  func read(_ bytes: UnsafeMutableRawBufferPointer, ofPacketAt place: Int) throws {
    try reading.withLock { reading in
      // After an error, the place of the next packet is unknown.
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
          .damagedInput, about: recipe.source, "its packets differ from those that were read before")
      }
      try sample.buffer.withBytes { bytes.copyMemory(from: $0) }
    }
  }
}
