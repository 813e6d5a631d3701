import Hummingbird

package func probe() async throws {
  let router = Router()
  router.get("/") { _, _ in "x" }
  let app = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)))
  try await app.runService()
}
