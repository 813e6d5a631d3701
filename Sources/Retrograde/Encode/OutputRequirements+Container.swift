import RetrogradeEngine

extension Container {
  /// True for image formats with full transparency. GIF is not one of them, since its pixels are
  /// either transparent or opaque.
  var keepsAlpha: Bool { imageFormat != nil && animation != .gif && !lacksTimes && !isJPEG }

  /// True if FFV1 is one of the container's usual codecs.
  fileprivate var takesFFV1: Bool { videoCodecs.contains("video/x-ffv") }
}

extension OutputRequirements {
  /// Requirements that the container of `output` sets for the playback of the source.
  /// - Throws: ``RetrogradeError`` if no container has the extension of `output`.
  init(of output: String, _ encoding: EncodingOptions) throws {
    self.init(try Container.of(output, format: encoding.format), encoding)
  }

  init(_ container: Container, _ encoding: EncodingOptions) {
    self.init()
    isRepeated = container.animation != nil
    fastest = container.animation?.fastest
    let isInFFV1 =
      encoding.quality == .lossless || encoding.videoCodec == "ffv1"
      || encoding.videoCodec == nil && encoding.encoder == nil && container.takesFFV1
    holdsAlpha = container.keepsAlpha || encoding.keepsAlpha && isInFFV1
    keepsForwardWhole = encoding.copiesForward
  }
}
