import Retrograde

private func findCamera() throws -> Device? {
  try Device.all().first { $0.kind == .video }
}
