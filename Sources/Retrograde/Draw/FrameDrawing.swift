import GStreamer
import MediaTime
import RetrogradeEngine

/// Drawings over the frames of a source, and the title before the frames.
struct FrameDrawing: Sendable {
  var lettering = Lettering()
  var overlay: Overlay?
  var title: Title?

  var isEmpty: Bool { !isCode && lettering.overlay == nil }

  /// True if a drawing is a function of the calling program, which other processes can't run.
  var isCode: Bool { overlay != nil || title != nil }

  /// Delay of the whole source, caused by the title.
  var lead: ClockTime { title?.duration ?? .zero }

  /// Calls `body` with each frame of the title and the frame's time span.
  func title(_ painter: FramePainter, rate: Double, _ body: (Buffer, TimeSpan) throws -> Void) throws {
    guard let title, title.duration > .zero else { return }
    let step = ClockTime(seconds: 1 / max(rate, 1))
    var start = ClockTime.zero
    while start < title.duration {
      let end = min(start + step, title.duration)
      try body(try painter.blank { try title.draw($0, start) }, TimeSpan(start: start, end: end))
      start = end
    }
  }

  /// Returns the number of frames of the title.
  func titleFrames(rate: Double) -> Int {
    guard let title, title.duration > .zero else { return 0 }
    let step = ClockTime(seconds: 1 / max(rate, 1))
    return Int((title.duration / step).rounded(.up))
  }

  /// All drawings over frames, combined; nil if there is none.
  var painting: Overlay? { Overlays.all([lettering.overlay, overlay].compactMap { $0 }) }
}

extension VideoPlayer.Frame {
  /// Draws over the frame.
  /// - Parameter number: number of the frame in the output.
  mutating func paint(_ painter: FramePainter, _ painting: Overlay?, number: Int) throws {
    guard let painting else { return }
    let moment = OverlayFrame(time: shown.start, sourceTime: source.start, direction: direction, number: number)
    buffer = try painter.paint(buffer) { try painting($0, moment) }
  }
}

extension FramePainter {
  /// Creates a painter for the frames of `video`.
  /// - Parameter geometry: conversion that is applied to the frames after the drawing; nil: none.
  init(_ video: VideoSource, _ geometry: FrameGeometry?) {
    let shown = ShownFrame(video.caps, orientation: video.video.tags?.string("image-orientation"))
    self.init(video.caps, geometry?.drawing ?? (shown.stored, shown.size))
  }
}
