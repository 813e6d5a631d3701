/// Colour matrices and transfer functions (ITU-T H.273, tables 3 and 4) that GStreamer has no name
/// for (`gst_video_color_matrix_from_iso`, `gst_video_transfer_function_from_iso`, 1.22 to 1.28).
enum ColourCodes {
  private static let matrices = [
    8: "YCgCo", 10: "BT.2020 with constant luminance", 11: "SMPTE 2085", 12: "derived from the primaries",
    13: "derived from the primaries, with constant luminance", 14: "ICtCp",
  ]
  private static let transfers = [11: "xvYCC", 12: "BT.1361", 17: "SMPTE 428"]

  /// Displayed name of a transfer function; its number if it has no common name.
  static func transferName(_ code: Int) -> String {
    [1: "BT.709", 6: "BT.601", 14: "BT.2020", 15: "BT.2020", 16: "PQ", 18: "HLG"][code] ?? transfers[code] ?? "\(code)"
  }

  /// Returns the displayed names of the colour labels that are lost in the output, because
  /// GStreamer has no name for them.
  static func unnamed(matrix: Int?, transfer: Int?) -> [String] {
    [
      matrix.flatMap { matrices[$0] }.map { "the label of the colour matrix (\($0))" },
      transfer.flatMap { transfers[$0] }.map { "the label of the transfer function (\($0))" },
    ].compactMap { $0 }
  }
}
