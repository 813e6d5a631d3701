/// Arithmetic that saturates on overflow, where the operators would trap.
extension Int64 {
  func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? (other < 0 ? .min : .max) : sum
  }

  func saturatingSubtract(_ other: Int64) -> Int64 {
    let (difference, isOver) = subtractingReportingOverflow(other)
    return isOver ? (other < 0 ? .max : .min) : difference
  }

  func saturatingMultiply(_ other: Int64) -> Int64 {
    let (product, isOver) = multipliedReportingOverflow(by: other)
    return isOver ? ((self < 0) != (other < 0) ? .min : .max) : product
  }

  /// Divides. Division by 0 returns the minimum or maximum, with the sign of the dividend; 0 / 0 is
  /// 0.
  func saturatingDivide(_ other: Int64) -> Int64 {
    if other == 0 { return self == 0 ? 0 : self < 0 ? .min : .max }
    let (quotient, isOver) = dividedReportingOverflow(by: other)
    return isOver ? .max : quotient
  }
}
