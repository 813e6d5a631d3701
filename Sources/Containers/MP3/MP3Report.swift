import MediaTime

extension ContainerReport {
  static func mp3(_ file: RandomAccessFile, _ start: Int) -> ContainerReport? {
    guard let first = file.read(start..<start + 4), InfoFrame.size(first) != nil else { return nil }
    let walk = walk(file, from: start) { file.read($0..<$0 + 4).flatMap(InfoFrame.size) }
    guard let info = InfoFrame(file), let frames = info.frames else { return audio(end: nil, walk) }
    let whole = ClockTime(sampleIndex: frames * info.samplesPerFrame, rate: info.rate)
    // Some encoders count the info frame and the decoder's priming, and others do not. The
    // tolerance of three frames allows for both.
    let slack = ClockTime(sampleIndex: 3 * info.samplesPerFrame, rate: info.rate)
    return audio(end: info.gapless?.duration ?? whole, walk, slack: slack)
  }
}
