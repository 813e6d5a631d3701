import MediaTime

extension ContainerReport {
  /// Creates the report of an FLV file ("Video File Format Specification", Adobe). The first script
  /// tag declares the size and duration of the file.
  /// - Parameter script: body of the first script tag; nil if there is none.
  static func flv(_ file: RandomAccessFile, script: [UInt8]?) -> ContainerReport? {
    var declared = ContainerReport()
    guard var place = file.number(at: 5, 4) else { return nil }
    place += 4
    if let script {
      if let bytes = number("filesize", in: script), bytes > Double(file.size) { declared.isCut = true }
      if let seconds = number("duration", in: script), seconds > 0 { declared.end = ClockTime(seconds: seconds) }
    }
    while let type = file.number(at: place, 1) {
      guard [8, 9, 18].contains(type) else {
        declared.brokenAt = place
        break
      }
      guard let size = file.number(at: place + 1, 3), size <= file.size - place - 11 else {
        declared.isCut = true
        break
      }
      place += 11 + size + 4
    }
    declared.slack = declared.brokenAt == nil ? ClockTime(seconds: 1) : .zero
    return declared
  }

  /// Returns the body of the first script tag; nil if the first 16 tags contain no complete script
  /// tag.
  static func flvScript(_ file: RandomAccessFile) -> [UInt8]? {
    guard var place = file.number(at: 5, 4) else { return nil }
    place += 4
    for _ in 0..<16 {
      guard let type = file.number(at: place, 1), let size = file.number(at: place + 1, 3),
        size <= file.size - place - 11
      else { return nil }
      if type == 18 { return file.read(place + 11..<place + 11 + size) }
      place += 11 + size + 4
    }
    return nil
  }

  /// Reads a number property in AMF0: the name, the type 0, and eight bytes for the value. Nil if
  /// `script` has no such property.
  private static func number(_ name: String, in script: [UInt8]) -> Double? {
    let key = [0, UInt8(name.utf8.count)] + Array(name.utf8) + [0]
    guard let place = script.firstRange(of: key)?.upperBound, place + 8 <= script.count else { return nil }
    let value = Double(bitPattern: script[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    return value.isFinite ? value : nil
  }
}
