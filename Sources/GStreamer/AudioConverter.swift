import CGStreamer

/// Converts raw interleaved audio to another sample format, rate or channel layout
/// (`GstAudioConverter`), without dither.
///
/// Not thread-safe.
package final class AudioConverter {
  private let raw: OpaquePointer
  private let input: GstAudioInfo
  private let output: GstAudioInfo

  /// - Parameter variesRate: true if ``setInputRate(_:)`` will be called.
  /// - Returns: nil if GStreamer cannot do the conversion.
  package init?(from: Caps, to: Caps, variesRate: Bool = false) {
    var input = GstAudioInfo()
    var output = GstAudioInfo()
    guard gst_audio_info_from_caps(&input, from.raw) != 0, gst_audio_info_from_caps(&output, to.raw) != 0,
      input.bpf > 0, output.bpf > 0,
      let raw = gst_audio_converter_new(
        variesRate ? GST_AUDIO_CONVERTER_FLAG_VARIABLE_RATE : GST_AUDIO_CONVERTER_FLAG_NONE, &input, &output,
        // The converter takes ownership of the structure. With the default phase error, each rate
        // change may shift the audio by up to a tenth of a sample.
        variesRate ? gst_structure_new_from_string("exact,GstAudioResampler.max-phase-error=(double)0") : nil)
    else { return nil }
    self.raw = raw
    self.input = input
    self.output = output
  }

  deinit { gst_audio_converter_free(raw) }

  /// Converts `samples`. Resampling also needs the samples that follow, so the result lacks the
  /// last samples; the next call or ``finish()`` returns these.
  package func convert(_ samples: UnsafeRawBufferPointer) throws -> [UInt8] {
    guard let base = samples.baseAddress else { return [] }
    return try run(UnsafeMutableRawPointer(mutating: base), samples.count / Int(input.bpf))
  }

  /// Sets the sample rate of the following input, in Hz.
  package func setInputRate(_ rate: Int) {
    gst_audio_converter_update_config(raw, gint(clamping: max(rate, 1)), output.rate, nil)
  }

  /// Maximum number of input samples that are converted only after later samples arrive.
  package var latency: Int { Int(gst_audio_converter_get_max_latency(raw)) }

  /// Converts the last samples, as if silence followed.
  package func finish() throws -> [UInt8] { try run(nil, latency) }

  /// - Parameter samples: nil means silence.
  private func run(_ samples: UnsafeMutableRawPointer?, _ count: Int) throws -> [UInt8] {
    guard count > 0 else { return [] }
    let frames = Int(gst_audio_converter_get_out_frames(raw, gsize(count)))
    var bytes = [UInt8](repeating: 0, count: frames * Int(output.bpf))
    let isDone = bytes.withUnsafeMutableBytes { target in
      var planes: [gpointer?] = [samples]
      var targets: [gpointer?] = [target.baseAddress]
      return planes.withUnsafeMutableBufferPointer { planes in
        gst_audio_converter_samples(
          raw, GST_AUDIO_CONVERTER_FLAG_NONE, samples == nil ? nil : planes.baseAddress, gsize(count), &targets,
          gsize(frames)) != 0
      }
    }
    guard isDone else {
      throw GStreamerError(kind: .other, element: nil, message: "audio can't be converted", debug: nil)
    }
    return bytes
  }
}
