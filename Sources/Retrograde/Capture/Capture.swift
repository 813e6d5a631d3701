public import GStreamer
public import MediaTime
import RetrogradeEngine
import Synchronization

/// Records from a live source, and makes a clip of it in any order of play.
///
/// ```swift
/// guard let camera = try Device.all().first(where: { $0.kind == .video }) else { return }
/// var capture = Capture(camera, frameRate: 30)
/// capture.duration = .seconds(3)
/// capture.showsPreview = true
/// capture.options.playback.loop = .pingPong
/// let session = capture.start(to: "boomerang.mp4")
/// for await progress in session.reversal.progress { print(progress.stage, progress.fraction) }
/// let summary = try await session.reversal.summary()
/// ```
///
/// Frames are kept as they come, within the memory budget and then in the spool; those that lie in a driver's own few
/// buffers are copied out of them, others are not.
public struct Capture: Sendable {
  /// Source of raw frames: elements in `gst-launch-1.0` syntax.
  public var source: String
  /// Source of the audio, in the same syntax; nil: no audio.
  public var microphone: String?
  /// True if a window shows the camera's picture. It never holds up the recording; closing it ends that.
  public var showsPreview: Bool
  /// How long to wait, with the camera running, before frames are kept.
  public var countdown: ClockTime
  /// How many frames to keep; nil: any number.
  public var frames: Int?
  /// How long to record; nil: until there are enough frames, or ``CaptureSession/stop()`` is called.
  public var duration: ClockTime?
  /// Loop, memory, spool and encoding.
  public var options: ReverseOptions
  /// Draws over every frame of the clip; nil: nothing does.
  public var overlay: Overlay?
  /// Comes before the clip.
  public var title: Title?

  public init(
    source: String, microphone: String? = nil, showsPreview: Bool = false, countdown: ClockTime = .zero,
    frames: Int? = nil, duration: ClockTime? = nil, options: ReverseOptions = ReverseOptions(),
    overlay: Overlay? = nil, title: Title? = nil
  ) {
    self.source = source
    self.microphone = microphone
    self.showsPreview = showsPreview
    self.countdown = countdown
    self.frames = frames
    self.duration = duration
    self.options = options
    self.overlay = overlay
    self.title = title
  }

  /// Records from a camera.
  ///
  /// - Parameters:
  ///   - device: a camera, of those that ``Device`` lists.
  ///   - size: in pixels, to ask the camera for; nil: its own choice.
  ///   - frameRate: to ask the camera for; nil: its own choice.
  public init(_ device: Device, size: (width: Int, height: Int)? = nil, frameRate: FrameRate? = nil) {
    let wanted = [size.map { "width=\($0.width),height=\($0.height)" }, frameRate.map { "framerate=\($0)" }]
      .compactMap { $0 }.joined(separator: ",")
    let caps = wanted.isEmpty ? [] : ["\"video/x-raw(ANY),\(wanted);image/jpeg,\(wanted)\""]
    // Cameras give JPEG where raw frames would be too much for the wire.
    self.init(source: ([device.source] + caps + ["decodebin"]).joined(separator: " ! "))
  }

  /// Begins to record; the clip is written to `output` when that ends.
  public func start(to output: String) -> CaptureSession {
    let session = Control()
    let reversal = Reversal { [self] work in
      let control = RecordingControl(countdown: countdown, frames: frames, duration: duration, work)
      session.begin(control)
      return try run(to: output, control, work)
    }
    return CaptureSession(reversal: reversal, control: session)
  }

  /// The recording, from the moment when it begins; it may be ended before that.
  final class Control: Sendable {
    private let state = Mutex<(control: RecordingControl?, isStopped: Bool)>((nil, false))

    init() {}

    func begin(_ control: RecordingControl) {
      let isStopped = state.withLock { state in
        state.control = control
        return state.isStopped
      }
      if isStopped { control.stop() }
    }

    func stop() {
      let control = state.withLock { state in
        state.isStopped = true
        return state.control
      }
      control?.stop()
    }
  }
}

/// A recording under way.
public struct CaptureSession: Sendable {
  /// Progress of the recording, and then of the writing.
  public let reversal: Reversal
  let control: Capture.Control

  /// Ends the recording; the clip is made of the frames so far.
  public func stop() { control.stop() }
}
