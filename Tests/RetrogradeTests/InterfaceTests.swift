import Foundation
import Retrograde
import RetrogradePlayer
import TestSupport
import Testing

/// Values that programs pass to this library: times, frame rates and file URLs.
@Suite struct InterfaceTests {
  @Test("times are written like Swift's durations")
  func timeLiterals() {
    #expect(ClockTime.seconds(2.5).nanoseconds == 2_500_000_000)
    #expect(ClockTime.milliseconds(-40) == .nanoseconds(-40_000_000))
    #expect(ClockTime.seconds(1) / 3 == .nanoseconds(333_333_333) && ClockTime.seconds(3) / .seconds(2) == 1.5)
    #expect(ClockTime.seconds(1) * 3 - .seconds(0.5) == .milliseconds(2500))
  }

  @Test("times and durations convert to each other")
  func durations() {
    #expect(ClockTime(Duration.milliseconds(-1500)) == .seconds(-1.5))
    #expect(Duration(ClockTime.milliseconds(40)) == .milliseconds(40))
    #expect(ClockTime(Duration(secondsComponent: .max, attosecondsComponent: 0)).nanoseconds == .max)
    #expect(ClockTime(Duration(secondsComponent: .min, attosecondsComponent: 0)).nanoseconds == .min)
  }

  @Test("dividing a time never traps")
  func division() {
    #expect(ClockTime.seconds(1) / 0 == .nanoseconds(.max) && ClockTime.seconds(-1) / 0 == .nanoseconds(.min))
    #expect(ClockTime.nanoseconds(.min) / -1 == .nanoseconds(.max) && ClockTime.zero / 0 == .zero)
    #expect((ClockTime.zero / ClockTime.zero).isNaN)
  }

  @Test("a time is a number of seconds in JSON")
  func jsonTime() throws {
    let times: [ClockTime] = [.seconds(2.5), .nanoseconds(-1), .seconds(4_000_000) + .nanoseconds(1)]
    let json = try JSONEncoder().encode(times)
    #expect(String(decoding: json, as: UTF8.self).hasPrefix("[2.5,"))
    #expect(try JSONDecoder().decode([ClockTime].self, from: json) == times)
  }

  @Test("frame rates are written as numbers and fractions")
  func frameRateLiterals() {
    #expect((30 as FrameRate) == FrameRate(30, 1) && (29.97 as FrameRate) == FrameRate(30000, 1001))
    #expect(("30000/1001" as FrameRate) == FrameRate(30000, 1001) && (12.5 as FrameRate).value == 12.5)
    #expect((0 as FrameRate).value == 1 && (5000 as FrameRate).value == 1000 && (5000.0 as FrameRate).value == 1000)
    #expect((0.0 as FrameRate).value == 1)
  }

  @Test("a URL can name a file")
  func fileURLs() async throws {
    let folder = try TemporaryFolder()
    let input = URL(fileURLWithPath: folder.path("a clip, 100%.mkv"))
    let output = URL(fileURLWithPath: folder.path("pilc %2F.mkv"))
    try FileManager.default.moveItem(at: URL(fileURLWithPath: TestMedia.matroska.write(to: folder)), to: input)
    let summary = try await Reverser(input).reverse(to: output)
    #expect(summary.output == output.path && FileManager.default.fileExists(atPath: output.path))
    #expect(try await Verifier(input, mirror: output).verify().isMirror)
  }

  @Test("a URL that is not a file appears unchanged in the error")
  func otherURL() async throws {
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(try #require(URL(string: "ftp://example.com/a.mp4"))).plan()
    }
    #expect(error?.code == .noInput && error?.description.hasPrefix("ftp://example.com/a.mp4: ") == true)
  }
}
