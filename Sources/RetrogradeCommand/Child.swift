import ArgumentParser
import Retrograde

/// Process that this program starts for a single file, so that a crash affects no other file.
struct Child: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "child", abstract: "Works for another process of this program.", shouldDisplay: false)

  /// True if this process is a child.
  static var isThisProcess: Bool { CommandLine.arguments.dropFirst().first == configuration.commandName }

  static func runner(_ limits: ChildLimits) -> ChildRunner {
    ChildRunner(arguments: [configuration.commandName ?? ""], limits: limits)
  }

  func run() async throws { try await ChildService.run(userInfo: Setting.jsonNaming) }
}
