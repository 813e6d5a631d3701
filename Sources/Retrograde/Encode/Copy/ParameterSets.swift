/// H.264 parameter sets from an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1). A
/// decoder needs the parameter sets before the first picture; MP4 and Matroska store the sets
/// outside the stream.
struct ParameterSets: Equatable {
  /// Profile, profile compatibility and level: one byte each.
  private var profile: [UInt8]
  private var sequences: [[UInt8]]
  private var pictures: [[UInt8]]
  /// Bytes after the parameter sets; only records of High profiles have such bytes.
  private var rest: [UInt8]

  /// Parses a record; nil if the record is invalid, or if NAL unit lengths in the stream are not
  /// four bytes long.
  init?(_ record: [UInt8]) {
    guard record.count >= 7, record[0] == 1, record[4] & 3 == 3 else { return nil }
    profile = Array(record[1...3])
    var place = 6
    func sets(_ count: Int) -> [[UInt8]]? {
      var found: [[UInt8]] = []
      for _ in 0..<count {
        guard place + 2 <= record.count else { return nil }
        let length = Int(record[place]) << 8 | Int(record[place + 1])
        guard place + 2 + length <= record.count, length > 0 else { return nil }
        found.append(Array(record[place + 2..<place + 2 + length]))
        place += 2 + length
      }
      return found
    }
    guard let first = sets(Int(record[5] & 31)), place < record.count else { return nil }
    place += 1
    guard let second = sets(Int(record[place - 1])) else { return nil }
    sequences = first
    pictures = second
    rest = Array(record[place...])
  }

  /// Serialized record.
  var record: [UInt8] {
    func list(_ sets: [[UInt8]]) -> [UInt8] {
      sets.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
    }
    return [1] + profile + [0xFF, 0xE0 | UInt8(sequences.count)] + list(sequences) + [UInt8(pictures.count)]
      + list(pictures) + rest
  }

  /// Identifier from 0 to 31 that no sequence or picture parameter set uses; nil if all are in use.
  var freeNumber: Int? {
    let taken = Set(
      (sequences.map { number(in: $0, at: 4) } + pictures.map { number(in: $0, at: 1) }).compactMap { $0 })
    return (0..<32).first { !taken.contains($0) }
  }

  /// Identifier of a parameter set: the first Exp-Golomb code after the set's header (ITU-T H.264,
  /// 7.3.2.1.1 and 7.3.2.2).
  private func number(in set: [UInt8], at place: Int) -> Int? {
    let bits = set.dropFirst(place).flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    // Identifiers are at most 255, so a valid code has at most eight leading zeros.
    guard let zeros = bits.firstIndex(of: 1), zeros < 16, bits.count > 2 * zeros else { return nil }
    return bits[zeros...2 * zeros].reduce(0) { $0 << 1 | Int($1) } - 1
  }

  /// Returns one record with the parameter sets of both streams; nil if two sets of one kind have
  /// the same identifier, or if there are too many sets.
  func joined(with other: ParameterSets) -> ParameterSets? {
    func numbers(_ sets: ParameterSets) -> (Set<Int?>, Set<Int?>) {
      (Set(sets.sequences.map { number(in: $0, at: 4) }), Set(sets.pictures.map { number(in: $0, at: 1) }))
    }
    let (own, others) = (numbers(self), numbers(other))
    guard own.0.isDisjoint(with: others.0), own.1.isDisjoint(with: others.1),
      sequences.count + other.sequences.count < 32, pictures.count + other.pictures.count < 256
    else { return nil }
    var joined = self
    // Decoders check profile and level, so use the higher profile and the higher level of the two
    // streams.
    joined.profile = zip(profile, other.profile).map { max($0, $1) }
    joined.profile[1] = profile[1] & other.profile[1]
    joined.sequences += other.sequences
    joined.pictures += other.pictures
    if joined.rest.isEmpty { joined.rest = other.rest }
    return joined
  }
}
