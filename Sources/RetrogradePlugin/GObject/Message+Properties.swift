import RetrogradeEngine

extension Message {
  /// Text with settings named as element properties, such as `memory-budget`.
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
