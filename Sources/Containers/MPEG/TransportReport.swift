/// Reports of MPEG transport streams.
extension ContainerReport {
  static func transportStream(_ scan: TransportScan) -> ContainerReport {
    var report = ContainerReport(
      isCut: scan.isCut,
      streams: scan.streams.map { kind, isEmpty in
        var stream = Stream(kind: kind, frames: nil, end: nil)
        stream.isEmpty = isEmpty
        return stream
      })
    report.streamNumbers = scan.numbers
    report.dataStreams = scan.dataStreams
    report.gaps = scan.gaps
    report.furtherPrograms = scan.furtherPrograms
    return report
  }
}
