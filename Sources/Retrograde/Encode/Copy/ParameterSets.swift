/// Parameter sets that an H.264 decoder needs before the first picture: the sequence and picture parameter
/// sets of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1), which MP4 and Matroska keep beside
/// the stream.
struct ParameterSets: Equatable {
  /// Profile, its compatibility, and level.
  private var profile: [UInt8]
  private var sequences: [[UInt8]]
  private var pictures: [[UInt8]]
  /// Bytes that high profiles have after the sets.
  private var rest: [UInt8]

  /// Reads a record; nil where it is none, or where lengths of units in the stream are not of four bytes.
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

  /// The record.
  var record: [UInt8] {
    func list(_ sets: [[UInt8]]) -> [UInt8] {
      sets.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
    }
    return [1] + profile + [0xFF, 0xE0 | UInt8(sequences.count)] + list(sequences) + [UInt8(pictures.count)]
      + list(pictures) + rest
  }

  /// A number that none of the sets goes by, of sequences or of pictures; nil where none is left.
  var freeNumber: Int? {
    let taken = Set(
      (sequences.map { number(in: $0, at: 4) } + pictures.map { number(in: $0, at: 1) }).compactMap { $0 })
    return (0..<32).first { !taken.contains($0) }
  }

  /// The number of a set: the first Exp-Golomb code after its header (ITU-T H.264, 7.3.2.1.1 and 7.3.2.2).
  private func number(in set: [UInt8], at place: Int) -> Int? {
    let bits = set.dropFirst(place).flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    // No number of a set takes more than eight bits and its zeros before.
    guard let zeros = bits.firstIndex(of: 1), zeros < 16, bits.count > 2 * zeros else { return nil }
    return bits[zeros...2 * zeros].reduce(0) { $0 << 1 | Int($1) } - 1
  }

  /// Both streams' sets in one record; nil where two of them go by one number.
  func joined(with other: ParameterSets) -> ParameterSets? {
    func numbers(_ sets: ParameterSets) -> (Set<Int?>, Set<Int?>) {
      (Set(sets.sequences.map { number(in: $0, at: 4) }), Set(sets.pictures.map { number(in: $0, at: 1) }))
    }
    let (own, others) = (numbers(self), numbers(other))
    guard own.0.isDisjoint(with: others.0), own.1.isDisjoint(with: others.1),
      sequences.count + other.sequences.count < 32, pictures.count + other.pictures.count < 256
    else { return nil }
    var joined = self
    // Decoders compare these: the highest of both.
    joined.profile = zip(profile, other.profile).map { max($0, $1) }
    joined.profile[1] = profile[1] & other.profile[1]
    joined.sequences += other.sequences
    joined.pictures += other.pictures
    if joined.rest.isEmpty { joined.rest = other.rest }
    return joined
  }
}
