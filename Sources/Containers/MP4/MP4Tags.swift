/// Tags of MP4 and MOV files that qtdemux does not read: QuickTime keys (`meta` with the handler
/// `mdta`, QuickTime File Format, "Metadata Atoms"), iTunes items with custom names, and the
/// location in the user data (`©xyz`).
struct MP4Tags {
  private(set) var tags: [MP4Tag] = []
  /// Creation time in seconds since 1970 (`mvhd`).
  private(set) var created: Int?
  /// Details that cannot be kept in any output.
  private(set) var details: [ContainerDetail] = []

  init(_ index: MP4Index) {
    let bytes = index.bytes
    let all = 0..<bytes.count
    readKeys(bytes, bytes.box("meta", in: all))
    let user = bytes.box("udta", in: all)
    let list = user.flatMap { bytes.box("meta", in: $0) }.flatMap { MP4Tags.parts(ofMeta: $0, bytes) }
    let items = list?.first { $0.type == "ilst" }?.body
    if let user, let list, list.contains(where: { $0.type == "keys" }) {
      readKeys(bytes, bytes.box("meta", in: user))
    } else if let items {
      for item in Box.all(in: bytes[items]) {
        if !MP4Tags.items.contains(item.type) { read(item, bytes) }
        // qtdemux reads only the first cover.
        let covers = item.type == "covr" ? Box.all(in: bytes[item.body]).count { $0.type == "data" } : 0
        if covers > 1 { details.append(ContainerDetail(file: "\(covers - 1) of \(covers) cover pictures (covr)")) }
      }
    }
    if let user { readUserData(bytes, user, isListed: items != nil) }
    if let header = index.header?.body, header.count >= 20 {
      let place = header.lowerBound + 4
      // The header counts seconds since the beginning of 1904.
      let seconds = bytes.number(place..<place + (bytes[header.lowerBound] == 1 ? 8 : 4))
      if seconds > 0, seconds < 1 << 32 { created = seconds - 2_082_844_800 }
    }
  }

  /// Tags in text form, for other containers.
  var named: [NamedTag] {
    tags.compactMap { tag in tag.text.map { NamedTag(name: tag.name, text: $0) } }
  }

  /// Returns the boxes in a `meta` box, whose body begins with a version in MP4 but not in MOV.
  private static func parts(ofMeta body: Range<Int>, _ bytes: [UInt8]) -> [Box]? {
    [body, body.dropFirst(4)].lazy.map { Box.all(in: bytes[$0]) }.first { $0.contains { $0.type == "hdlr" } }
  }

  private mutating func add(_ tag: MP4Tag) {
    if tag.text != nil {
      tags.append(tag)
    } else {
      details.append(ContainerDetail(file: "the tag \(tag.name), which is not text"))
    }
  }

  private mutating func readKeys(_ bytes: [UInt8], _ meta: Range<Int>?) {
    guard let meta, let parts = MP4Tags.parts(ofMeta: meta, bytes),
      let names = parts.first(where: { $0.type == "keys" })?.body, names.count > 8,
      let list = parts.first(where: { $0.type == "ilst" })?.body
    else { return }
    let keys = Box.all(in: bytes[names.dropFirst(8)]).map { String(decoding: bytes[$0.body], as: UTF8.self) }
    for item in Box.all(in: bytes[list]) {
      let number = bytes.integer(item.body.lowerBound - 4) - 1
      guard keys.indices.contains(number) else { continue }
      for data in Box.all(in: bytes[item.body]) where data.type == "data" && data.body.count >= 8 {
        let type = bytes.integer(data.body.lowerBound) & 0xFF_FFFF
        add(MP4Tag(key: keys[number], type: type, value: Array(bytes[data.body.dropFirst(8)])))
      }
    }
  }

  private mutating func read(_ item: Box, _ bytes: [UInt8]) {
    var name = MP4Tags.name(of: item, bytes)
    if item.type == "----" {
      guard let own = bytes.box("name", in: item.body), own.count > 4 else { return }
      name = String(decoding: bytes[own.dropFirst(4)], as: UTF8.self)
      // qtdemux reads tags with this prefix (`qtdemux_tag_add_revdns`).
      guard !name.hasPrefix("replaygain_") else { return }
    }
    guard let data = bytes.box("data", in: item.body), data.count >= 8 else { return }
    let type = bytes.integer(data.lowerBound) & 0xFF_FFFF
    let whole = bytes[item.body.lowerBound - 8..<item.body.upperBound]
    // An item whose box has a 64-bit size is reported, not copied. Only boxes of several gigabytes
    // need such a size.
    guard bytes.integer(whole.startIndex) == whole.count else {
      details.append(ContainerDetail(file: "the tag \(name), which has a 64-bit size"))
      return
    }
    add(MP4Tag(item: Array(whole), name: name, type: type, value: Array(bytes[data.dropFirst(8)])))
  }

  private mutating func readUserData(_ bytes: [UInt8], _ user: Range<Int>, isListed: Bool) {
    var unread: [String] = []
    for box in Box.all(in: bytes[user]) where !MP4Tags.layout.contains(box.type) {
      let isText = bytes[box.body.lowerBound - 4] == 0xA9
      // qtdemux reads these boxes of the user data only if there is no iTunes list.
      if !isListed, MP4Tags.userData.contains(box.type) { continue }
      if isText, box.body.count > 4 {
        let length = min(bytes.number(box.body.lowerBound..<box.body.lowerBound + 2), box.body.count - 4)
        add(
          MP4Tag(key: MP4Tags.name(of: box, bytes), type: 1, value: Array(bytes[box.body.dropFirst(4).prefix(length)])))
      } else if box.type == "loci", let place = place(bytes[box.body]) {
        if !tags.contains(where: { $0.name == NamedTag.location }) {
          add(MP4Tag(key: NamedTag.location, type: 1, value: Array(place.utf8)))
        }
      } else {
        unread.append(box.type)
      }
    }
    guard !unread.isEmpty else { return }
    details.append(ContainerDetail(file: "the user data \(Set(unread).sorted().joined(separator: ", "))"))
  }

  /// Converts the location in a `loci` box to ISO 6709 format (3GPP TS 26.244, 8.10); nil if the
  /// location also has a place name.
  private func place(_ box: ArraySlice<UInt8>) -> String? {
    guard box.count >= 20, box[box.startIndex + 6] == 0 else { return nil }
    let bytes = Array(box.dropFirst(8))
    func number(_ place: Int) -> Double { Double(Int32(truncatingIfNeeded: bytes.integer(place))) / 65536 }
    let altitude = number(8)
    return NamedTag.place(
      latitude: number(4), longitude: number(0), altitude: altitude == 0 ? nil : altitude, decimals: 4)
  }

  /// Returns the tag name of a text, from its box type without the copyright sign.
  private static func name(of box: Box, _ bytes: [UInt8]) -> String {
    guard bytes[box.body.lowerBound - 4] == 0xA9 else { return box.type }
    let name = String(box.type.suffix(3))
    return words[name] ?? name
  }

  /// Tag names in other containers, by box type without the copyright sign.
  private static let words = [
    "xyz": NamedTag.location, "nam": "title", "ART": "artist", "alb": "album", "cmt": "comment", "inf": "comment",
    "des": "description", "cpy": "copyright", "gen": "genre", "day": "date", "mak": "device_manufacturer",
    "mod": "device_model", "swr": "application_name", "wrt": "composer", "enc": "encoder", "too": "encoder",
    "fmt": "format", "dir": "director", "prd": "producer",
  ]

  /// iTunes items that qtdemux reads (`add_funcs` of qtdemux_tags.c), as spelled by ``Box``.
  private static let items: Set<String> = Set(
    (userDataNames + ["covr", "gnre", "tmpo", "trkn", "disk", "disc", "sonm", "soal", "soar", "soaa", "soco", "sosn"]
      + ["tvsh", "tvsn", "tves", "aART", "desc", "keyw", "ID32"]).map(spelled))

  private static let userDataNames = [
    "©nam", "titl", "©grp", "©wrt", "©ART", "perf", "auth", "©alb", "albm", "cprt", "©cpy", "©cmt", "©des", "dscp",
    "©lyr", "©day", "yrrc", "©too", "©inf", "©gen", "kywd", "©enc", "loci", "clsf", "©mak", "©mod", "©swr",
  ]

  /// Box types of user data that qtdemux reads if there is no iTunes list. qtdemux reads dates only
  /// from the list (`qtdemux_tag_add_date`).
  private static let userData = Set((userDataNames + ["gnre", "covr", "keyw", "desc"]).map(spelled))
    .subtracting([spelled("©day")])

  /// Spells a box type as ``Box`` decodes it: the copyright sign is one byte that is invalid in
  /// UTF-8.
  private static func spelled(_ name: String) -> String {
    name.hasPrefix("©") ? ([0xA9] + Array(name.dropFirst().utf8)).text(0) : name
  }

  /// Box types of user data that are ignored because they are not text, or are display settings.
  /// ``MP4Chapters`` reads the chapters.
  private static let layout: Set = [
    "meta", "chpl", "name", "free", "skip", "wide", "XMP_", "hnti", "hinf", "WLOC", "LOOP", "SelO", "AllF", "ptv ",
    "tagc", "ipro", "ID32",
  ]
}

extension [MP4Tag] {
  /// Adds these tags to the body of a `moov` box.
  func added(to movie: [UInt8]) -> [UInt8] {
    let places = filter { $0.name.uppercased() == NamedTag.location && $0.item == nil && $0.isPlace }
    let items = compactMap(\.item)
    let keys = filter { $0.item == nil && !places.contains($0) }
    var parts = Box.all(in: movie[...]).map { (type: $0.type, body: Swift.Array(movie[$0.body])) }
    func change(_ type: String, _ change: ([UInt8]) -> [UInt8]) {
      if let place = parts.firstIndex(where: { $0.type == type }) {
        parts[place].body = change(parts[place].body)
      } else {
        parts.append((type, change([])))
      }
    }
    if let place = places.first {
      // The location is QuickTime international text with the language `und`.
      let body = [UInt8].big(UInt16(place.value.count)) + [UInt8].big(UInt16(0x55C4)) + place.value
      change("udta") { Box.header(xyz: body.count) + body + $0 }
    }
    if !items.isEmpty { change("udta") { [MP4Tag].adding(items, toUserData: $0) } }
    let bytes = parts.flatMap { Box.header($0.type, $0.body.count) + $0.body }
    return keys.isEmpty ? bytes : bytes + [MP4Tag].metadata(keys)
  }

  /// Encodes a `meta` box with the handler `mdta`.
  private static func metadata(_ keys: [MP4Tag]) -> [UInt8] {
    let names = keys.map { Box.bytes("mdta", Swift.Array($0.name.utf8)) }
    let values = keys.enumerated().map { number, key in
      let data = Box.bytes("data", .big(UInt32(key.type)), .zeros(4), key.value)
      return [UInt8].big(UInt32(data.count + 8)) + [UInt8].big(UInt32(number + 1)) + data
    }
    return Box.bytes(
      "meta", Box.full("hdlr", .zeros(4), Swift.Array("mdta".utf8), .zeros(13)),
      Box.full("keys", .big(UInt32(keys.count)), Swift.Array(names.joined())),
      Box.bytes("ilst", Swift.Array(values.joined())))
  }

  private static func adding(_ items: [[UInt8]], toUserData user: [UInt8]) -> [UInt8] {
    let added = Swift.Array(items.joined())
    guard let meta = Box.all(in: user[...]).first(where: { $0.type == "meta" }) else {
      return user
        + Box.full(
          "meta", Box.full("hdlr", .zeros(4), Swift.Array("mdirappl".utf8), .zeros(9)), Box.bytes("ilst", added))
    }
    let parts = Box.all(in: user[meta.body.dropFirst(4)]).flatMap { part in
      let body = Swift.Array(user[part.body]) + (part.type == "ilst" ? added : [])
      return Box.header(part.type, body.count) + body
    }
    let box = Box.full("meta", parts)
    return Swift.Array(user[..<(meta.body.lowerBound - 8)]) + box + Swift.Array(user[meta.body.upperBound...])
  }
}

extension MP4Tag {
  /// True for a location such as `+48.8584+002.2945/` that fits in the user data, where the length
  /// of a text has two bytes.
  fileprivate var isPlace: Bool { ["+", "-"].contains(value.first.map(Unicode.Scalar.init)) && value.count < 1 << 16 }
}

extension Box {
  /// Encodes the header of a `©xyz` box.
  fileprivate static func header(xyz size: Int) -> [UInt8] {
    [UInt8].big(UInt32(size + 8)) + [0xA9] + Array("xyz".utf8)
  }
}
