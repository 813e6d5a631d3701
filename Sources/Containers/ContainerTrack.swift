package import MediaTime

/// Facts about a track that GStreamer's demuxer does not report.
package struct ContainerTrack: Sendable {
  package let kind: StreamKind
  /// Flags by which players choose the track; nil if the container has no such flags.
  package let disposition: Disposition?
  /// Orientation of the video, as in GST_TAG_IMAGE_ORIENTATION; nil if the container declares none.
  package var orientation: String?
  /// Name of the track. MP4, MOV and AVI only.
  package var title: String?
  /// Three-letter language (ISO 639-2); nil if not declared. MP4 and MOV only: qtdemux reports the
  /// language only with the first packet of a stream.
  package var language: String?
  /// True if no language is declared, so that readers assume English (RFC 9559, 5.1.4.1.19).
  /// Matroska only.
  package var hasDefaultLanguage = false
  /// Pixel aspect ratio. MP4 and MOV only.
  package var pixelAspect: (width: Int, height: Int)?
  /// Field order, with the name used in caps (`top-field-first`); nil for progressive video, or if
  /// not declared. MP4, MOV and Matroska only.
  package var fieldOrder: String?
  /// True if the edit list plays more than one range of the media. MP4 and MOV only.
  package var isEdited = false
  /// Track number used in Matroska's blocks; nil for other formats.
  package var number: Int?
  /// Channel mask of PCM, one bit per `GstAudioChannelPosition`; nil if not declared. GStreamer's
  /// demuxers do not read the mask. MOV and AIFF only.
  package var loudspeakers: UInt64?
  /// GStreamer format of PCM, such as `F32LE`, if a separate box declares the byte order; otherwise
  /// nil. MOV only.
  package var sampleFormat: String?
  /// Duration of the codec's priming. All audio timestamps are late by this duration (Matroska's
  /// `CodecDelay`, RFC 9559, 5.1.4.1.25).
  package var codecDelay = ClockTime.zero
  /// Duration of the audio that is decoded before the track's edit begins (``MP4PreRoll``). All
  /// audio timestamps are late by this duration. MP4 and MOV only.
  package var preRoll = ClockTime.zero
  /// Byte ranges of the audio samples; nil if the container does not declare them. In MP4 and MOV,
  /// the audio may be compressed.
  package var stored: StoredAudio?
}
