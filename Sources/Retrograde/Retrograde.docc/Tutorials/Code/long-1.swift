import Retrograde

private func reverseLong() async throws {
  let options = ReverseOptions(resources: Resources(memory: ByteCount(256 << 20)))
  let report = try await Reverser("film.mkv", options: options).plan()
  print(ByteCount(report.memoryBytes), "of memory,", ByteCount(report.spoolBytes), "of temporary files")
}
