package import Retrograde
import RetrogradeEngine

/// Settings of the server: its content, its address, and its clients.
package struct ServerSettings: Sendable {
  /// Address or name at which the server listens on this machine.
  package var host: String
  /// Port; 0 selects a free port.
  package var port: Int
  /// Token that clients must present; nil if they need none.
  package var token: String?
  /// Part and order of play of each file, unless an address overrides them.
  package var playback: PlaybackOptions
  /// Heights of the video renditions. If empty, the only height is the source's own, at most 1080.
  package var heights: [Int]
  /// Memory budget of all concurrent work together, and folder for temporary files.
  package var resources: Resources
  /// Cache size for finished parts.
  package var cache: ByteCount
  /// Number of concurrent jobs.
  package var jobs: Int
  /// Timeout for a client that reads or sends nothing.
  package var patience: Duration

  package init(
    host: String = "127.0.0.1", port: Int = 0, token: String? = nil, playback: PlaybackOptions = PlaybackOptions(),
    heights: [Int] = [], resources: Resources = Resources(), cache: ByteCount = ByteCount(1 << 30), jobs: Int = 2,
    patience: Duration = .seconds(30)
  ) {
    (self.host, self.port, self.token, self.playback, self.heights) = (host, port, token, playback, heights)
    (self.resources, self.cache, self.jobs, self.patience) = (resources, cache, jobs, patience)
  }

  /// Limits for each job, if all jobs and a download run at once.
  var share: Resources {
    Resources(
      memory: ByteCount(max(resources.memory.bytes / (max(jobs, 1) + 1), 1 << 20)),
      spoolDirectory: resources.spoolDirectory)
  }

  /// True if only programs on this machine can reach the address.
  package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
