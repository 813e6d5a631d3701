public import GStreamer
public import MediaTime
import RetrogradeEngine
import Synchronization

/// Records from a live source, and writes the recording as a clip, in any order of play.
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
/// Frames are stored in memory up to the budget, then in the spool (temporary files). A frame is
/// copied only if its buffer comes from a small pool of the driver, which needs the buffer back.
public struct Capture: Sendable {
  /// GStreamer elements that capture raw frames, in `gst-launch-1.0` syntax.
  public var source: String
  /// GStreamer elements that capture audio, in `gst-launch-1.0` syntax; nil for no audio.
  public var microphone: String?
  /// True to show the source's frames in a window. The preview never slows down the recording.
  /// Closing the window ends the recording, or fails before the first recorded frame.
  public var showsPreview: Bool
  /// Time from the first frame that the source delivers to the first recorded frame.
  public var countdown: ClockTime
  /// Number of frames to record; nil for no limit.
  public var frames: Int?
  /// Length of the recording; nil to record until ``frames`` are recorded, or
  /// ``CaptureSession/stop()`` is called.
  public var duration: ClockTime?
  /// Options of the clip, such as loop, memory, spool and encoding.
  public var options: ReverseOptions
  /// Drawing over every frame of the clip; nil for none.
  public var overlay: Overlay?
  /// Title before the clip; nil for none.
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

  /// Creates a capture from a camera.
  ///
  /// - Parameters:
  ///   - device: camera listed by ``Device``.
  ///   - size: frame size in pixels to request; nil for the camera's default.
  ///   - frameRate: frame rate to request; nil for the camera's default.
  public init(_ device: Device, size: (width: Int, height: Int)? = nil, frameRate: FrameRate? = nil) {
    let wanted = [size.map { "width=\($0.width),height=\($0.height)" }, frameRate.map { "framerate=\($0)" }]
      .compactMap { $0 }.joined(separator: ",")
    let caps = wanted.isEmpty ? [] : ["\"video/x-raw(ANY),\(wanted);image/jpeg,\(wanted)\""]
    // decodebin is needed because a camera outputs JPEG if its connection is too slow for raw
    // frames.
    self.init(source: ([device.source] + caps + ["decodebin"]).joined(separator: " ! "))
  }

  /// Begins to record. The clip is written to `output` when the recording ends.
  public func start(to output: String) -> CaptureSession {
    let session = Control()
    let reversal = Reversal { [self] work in
      let control = RecordingControl(countdown: countdown, frames: frames, duration: duration, work)
      session.begin(control)
      return try run(to: output, control, work)
    }
    return CaptureSession(reversal: reversal, control: session)
  }

  /// Control that can stop the recording, even before the recording begins.
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

/// Running recording.
public struct CaptureSession: Sendable {
  /// Progress and result of the work: first the recording, then the writing of the clip.
  public let reversal: Reversal
  let control: Capture.Control

  /// Ends the recording. The clip contains the frames that were recorded so far.
  public func stop() { control.stop() }
}
