import RetrogradeEngine

extension Container {
  /// It is images that keep transparency; GIF has pixels that are transparent or not.
  var keepsAlpha: Bool { imageFormat != nil && animation != .gif && !lacksTimes && !isJPEG }
}

extension OutputRequirements {
  /// What a file called `output` asks of the way in which its source is played.
  /// - Throws: ``RetrogradeError``, where no container is known by its extension.
  init(of output: String, _ encoding: EncodingOptions) throws {
    self.init(try Container.of(output, format: encoding.format), encoding)
  }

  init(_ container: Container, _ encoding: EncodingOptions) {
    self.init()
    isRepeated = container.animation != nil
    fastest = container.animation?.fastest
    holdsAlpha =
      container.keepsAlpha
      || encoding.keepsAlpha && (encoding.quality == .lossless || encoding.videoCodec == "ffv1")
    keepsForwardWhole = encoding.copiesForward
  }
}
