import CGStreamer

extension Character {
  /// Width in terminal columns: 2 for letters of East Asian scripts (`g_unichar_iswide`), 0 for
  /// zero-width characters, 1 for others.
  package var columns: Int {
    unicodeScalars.map { scalar in
      g_unichar_iszerowidth(scalar.value) != 0 ? 0 : g_unichar_iswide(scalar.value) != 0 ? 2 : 1
    }.max() ?? 0
  }
}

extension StringProtocol {
  package var columns: Int { reduce(0) { $0 + $1.columns } }
}
