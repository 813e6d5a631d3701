package import Retrograde
import RetrogradeEngine

/// Settings of the server: its content, its address, and its clients.
package struct ServerSettings: Sendable {
  /// An address or a name of this machine to listen at.
  package var host: String
  /// 0: one that is free.
  package var port: Int
  /// Token that clients have to know; nil: none is needed.
  package var token: String?
  /// Part and order of play of each file, unless an address says otherwise.
  package var playback: PlaybackOptions
  /// Heights of the pictures; none: the source's own, and no more than 1080.
  package var heights: [Int]
  /// For all that is made at a time.
  package var resources: Resources
  /// Size of the cache of made parts.
  package var cache: ByteCount
  /// Number of pieces of work at a time.
  package var jobs: Int
  /// For how long a client may take nothing of its answer, or say nothing, before its connection is closed.
  package var patience: Duration

  package init(
    host: String = "127.0.0.1", port: Int = 0, token: String? = nil, playback: PlaybackOptions = PlaybackOptions(),
    heights: [Int] = [], resources: Resources = Resources(), cache: ByteCount = ByteCount(1 << 30), jobs: Int = 2,
    patience: Duration = .seconds(30)
  ) {
    (self.host, self.port, self.token, self.playback, self.heights) = (host, port, token, playback, heights)
    (self.resources, self.cache, self.jobs, self.patience) = (resources, cache, jobs, patience)
  }

  /// For one of the things that are made at a time: as many as there are jobs, and a file that is taken away.
  var share: Resources {
    Resources(
      memory: ByteCount(max(resources.memory.bytes / (max(jobs, 1) + 1), 1 << 20)),
      spoolDirectory: resources.spoolDirectory)
  }

  /// Whether only programs of this machine can reach the address.
  package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
