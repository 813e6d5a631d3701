extension NamedTag {
  /// Name of the tag for the recording location, in ISO 6709 format. FFmpeg uses this name in
  /// Matroska and Ogg.
  package static let location = "LOCATION"

  /// Formats a location by ISO 6709, such as `+48.8584+002.2945/`.
  /// - Parameters:
  ///   - latitude: in degrees, like the longitude.
  ///   - altitude: in metres, written with two decimals.
  ///   - decimals: maximum number of decimals of latitude and longitude.
  /// - Returns: nil if the latitude or longitude is too large, or not finite. An altitude that is
  ///   too large or not finite is omitted.
  package static func place(latitude: Double, longitude: Double, altitude: Double?, decimals: Int) -> String? {
    guard let north = coordinate(latitude, digits: 2, decimals), let east = coordinate(longitude, digits: 3, decimals)
    else { return nil }
    return north + east + (altitude.flatMap { coordinate($0, digits: 1, 2) } ?? "") + "/"
  }

  /// Formats a value with a sign, at least `digits` digits before the decimal point, and at least
  /// one digit after it.
  private static func coordinate(_ value: Double, digits: Int, _ decimals: Int) -> String? {
    let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
    guard let scaled = Int(exactly: (abs(value) * Double(scale)).rounded()) else { return nil }
    func padded(_ number: Int, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
    var rest = padded(scaled % scale, decimals)
    while rest.count > 1, rest.hasSuffix("0") { rest.removeLast() }
    return (value < 0 ? "-" : "+") + padded(scaled / scale, digits) + "." + rest
  }
}
