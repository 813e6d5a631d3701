import MediaTime

extension ContainerReport {
  /// Returns the report of a YUV4MPEG2 file (manual page yuv4mpeg of mjpegtools, and FFmpeg's
  /// additional pixel formats); nil if the file is not truncated, or not valid. The format has a
  /// header line, and a line before each frame. The header does not declare the number of frames.
  static func y4m(_ file: RandomAccessFile) -> ContainerReport? {
    guard let header = file.line(at: 0), let size = y4mFrameSize(header) else { return nil }
    var place = header.utf8.count + 1
    while place < file.size {
      guard let line = file.line(at: place) else {
        // The line before the frame is truncated.
        let rest = file.read(place..<min(place + 5, file.size)) ?? []
        return "FRAME".utf8.starts(with: rest) ? ContainerReport(isCut: true) : nil
      }
      guard line.hasPrefix("FRAME") else { return nil }
      place += line.utf8.count + 1 + size
    }
    return place > file.size ? ContainerReport(isCut: true) : nil
  }

  /// Returns the ``ContainerFacts/fault`` of a file with a negative frame rate. y4mdec does not
  /// reject such a rate.
  static func y4mFault(_ file: RandomAccessFile) -> String? {
    guard let rate = file.line(at: 0)?.split(separator: " ").first(where: { $0.hasPrefix("F") })?.dropFirst(),
      rate.contains("-")
    else { return nil }
    return "it declares \(rate) frames per second"
  }

  /// Returns the field order as in caps; nil for progressive frames, or if the order varies or is
  /// not declared.
  static func y4mFieldOrder(_ file: RandomAccessFile) -> String? {
    let fields = file.line(at: 0)?.split(separator: " ").dropFirst() ?? []
    return fields.contains("It") ? "top-field-first" : fields.contains("Ib") ? "bottom-field-first" : nil
  }

  /// True for 4:1:1, 4:4:4 with alpha, grey, and formats with more than eight bits per sample.
  static func isUnusualY4M(_ file: RandomAccessFile) -> Bool {
    let chroma = file.line(at: 0)?.split(separator: " ").first { $0.hasPrefix("C") }.map { String($0.dropFirst()) }
    return chroma.map { isDeep($0) || ["411", "444alpha", "mono"].contains($0) } ?? false
  }

  /// True for formats with two bytes per sample, such as `422p10` and `mono12`.
  private static func isDeep(_ chroma: String) -> Bool {
    let parts = chroma.split(separator: "p", maxSplits: 1)
    return parts.count == 2 && Int(parts[1]) != nil || chroma.hasPrefix("mono") && chroma != "mono"
  }

  /// Returns the frame size in bytes; nil if the header is not valid or the format is unknown.
  private static func y4mFrameSize(_ header: String) -> Int? {
    var (width, height, chroma) = (0, 0, "420")
    for field in header.split(separator: " ").dropFirst() {
      switch field.first {
      case "W": width = Int(field.dropFirst()) ?? 0
      case "H": height = Int(field.dropFirst()) ?? 0
      case "C": chroma = String(field.dropFirst())
      default: break
      }
    }
    guard (1..<1 << 20).contains(width), (1..<1 << 20).contains(height) else { return nil }
    let luma = width * height
    let (half, quarter) = ((width + 1) / 2, (width + 3) / 4)
    let isDeep = isDeep(chroma)
    let samples: Int? =
      switch isDeep ? String(chroma.prefix { $0 != "p" }) : chroma {
      case "420", "420jpeg", "420mpeg2", "420paldv": luma + 2 * half * ((height + 1) / 2)
      case "411": luma + 2 * quarter * height
      case "422": luma + 2 * half * height
      case "444": 3 * luma
      case "444alpha": 4 * luma
      case let name where name.hasPrefix("mono"): luma
      default: nil
      }
    return samples.map { isDeep ? 2 * $0 : $0 }
  }
}

extension RandomAccessFile {
  /// Returns the text from `place` to the next line feed; nil if no line feed follows within 512
  /// bytes.
  fileprivate func line(at place: Int) -> String? {
    read(place..<min(place + 512, size)).flatMap { bytes in
      bytes.firstIndex(of: 0x0A).flatMap { String(validating: bytes[..<$0], as: UTF8.self) }
    }
  }
}
