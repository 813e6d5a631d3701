import Retrograde

func catchErrors() async throws {
  do {
    try await Reverser("holiday.mp4").reverse(to: "yadiloh.mp4")
  } catch let error as RetrogradeError {
    switch error.code {
    case .noInput: print("there is no such file")
    case .missingPlugin: print("install a plugin:", error)
    default: print(error)
    }
  }
}

func rewordMessage(_ error: RetrogradeError) {
  let text = error.message.naming { setting in setting == .overwrites ? "“Replace”" : setting.rawValue }
  print(text)
}

func readWarnings(_ summary: Summary) {
  for warning in summary.warnings where warning.isLoss {
    print(warning.code.rawValue, warning.count ?? 0, warning.span.map { "from \($0.start) to \($0.end)" } ?? "")
  }
}
