import RetrogradeEngine

extension Message {
  /// The text with settings as the elements' properties call them, such as `memory-budget`.
  var inProperties: String {
    naming { setting in
      switch setting {
      case .memory: "memory-budget"
      case .spoolDirectory: "spool-dir"
      default:
        setting.name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
      }
    }
  }
}
