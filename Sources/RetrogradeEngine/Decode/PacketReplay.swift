import GStreamer
import MediaTime
import Synchronization

/// The bytes of a video's packets, read from the source again when they are asked for: once through the source if
/// they are asked for in its order. It takes no room on the disk.
final class PacketReplay: Sendable {
  private let recipe: DecodingRecipe
  private let cancellation: Cancellation
  /// The running reader, and the place of the packet that comes next.
  private let reading = Mutex<(output: DecoderOutput, next: Int)?>(nil)

  /// - Parameter recipe: gives the packets as they go into the decoder (``DecodingRecipe/ofPackets``).
  init(_ recipe: DecodingRecipe, _ cancellation: Cancellation) {
    (self.recipe, self.cancellation) = (recipe, cancellation)
  }

  /// Fills `bytes` with the packet at `place`.
  /// - Throws: ``RetrogradeError``, where the source can't be read, or another packet comes.
  func read(_ bytes: UnsafeMutableRawBufferPointer, ofPacketAt place: Int) throws {
    try reading.withLock { reading in
      // After an error nobody knows which packet comes next.
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
        throw RetrogradeError(.damagedInput, about: recipe.source, "its packets differ from those read before")
      }
      try sample.buffer.withBytes { bytes.copyMemory(from: $0) }
    }
  }
}
