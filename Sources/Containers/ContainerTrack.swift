package import MediaTime

/// Facts that a container states of a track, and GStreamer's demuxer does not.
package struct ContainerTrack: Sendable {
  package let kind: StreamKind
  /// nil where the container has no word for it.
  package let disposition: Disposition?
  /// GST_TAG_IMAGE_ORIENTATION; nil where the container has no word for it, or says nothing.
  package var orientation: String?
  /// Name of the track. Of MP4 and MOV.
  package var title: String?
  /// In three letters (ISO 639-2); nil where nothing is said. Of MP4 and MOV, whose demuxer says it only with the first
  /// packet of a stream.
  package var language: String?
  /// The shape of a pixel. Of MP4 and MOV.
  package var pixelAspect: (width: Int, height: Int)?
  /// Which field of a frame is shown first, as caps say it (`top-field-first`); nil of progressive video, or if nothing
  /// is said. Of MP4 and MOV.
  package var fieldOrder: String?
  /// Its edit list shows more than one part of it. Of MP4 and MOV.
  package var isEdited = false
  /// Number by which Matroska's blocks name the track.
  package var number: Int?
  /// A bit for each `GstAudioChannelPosition`, of PCM of which the container says that; GStreamer's demuxers do not
  /// read it. Of MOV and AIFF.
  package var loudspeakers: UInt64?
  /// The format of PCM as GStreamer names it, such as `F32LE`, if a box of its own says the byte order. Of MOV.
  package var sampleFormat: String?
  /// Length of a codec's priming, by which all of the audio's times are too late (Matroska's `CodecDelay`,
  /// RFC 9559, 5.1.4.1.25).
  package var codecDelay = ClockTime.zero
  /// Places of the samples, for audio of which the container says that; whether they are PCM, it need not
  /// say.
  package var stored: StoredAudio?
}
