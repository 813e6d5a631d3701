import Testing

@testable import Containers

/// HEVC configuration records in MP4.
@Suite struct HEVCConfigurationTests {
  @Test(
    "the codecs string names profile, tier and level",
    arguments: [
      // Main, level 3.1, progressive; Main in the high tier without constraint flags; Main 10 in
      // profile space 1.
      ([1, 0x01, 0x60, 0, 0, 0, 0xB0, 0, 0, 0, 0, 0, 93, 0xF0] as [UInt8], "hvc1.1.6.L93.B0"),
      ([1, 0x21, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 120], "hvc1.1.6.H120"),
      ([1, 0x42, 0x20, 0, 0, 0, 0x90, 0, 1, 0, 0, 0, 153], "hvc1.A2.4.L153.90.0.1"),
    ])
  func codecsString(_ record: [UInt8], _ codecs: String) {
    #expect(HEVCConfiguration(record)?.codecs == codecs)
    for length in 0..<13 { #expect(HEVCConfiguration(Array(record.prefix(length))) == nil) }
  }
}
