// Types of other modules that this library's public interface uses. The aliases spare clients from
// importing those modules.

public import Containers
public import Drawing
public import GStreamer
public import MediaTime
public import RetrogradeEngine

// Times and rates.
public typealias ClockTime = MediaTime::ClockTime
public typealias FrameRate = MediaTime::FrameRate
public typealias TimeSpan = RetrogradeEngine::TimeSpan

// Source and options.
public typealias ByteCount = RetrogradeEngine::ByteCount
public typealias Direction = RetrogradeEngine::Direction
public typealias Loop = RetrogradeEngine::Loop
public typealias PlaybackOptions = RetrogradeEngine::PlaybackOptions
public typealias Resources = RetrogradeEngine::Resources
public typealias Score = RetrogradeEngine::Score
public typealias SourcePosition = RetrogradeEngine::SourcePosition
public typealias Speed = RetrogradeEngine::Speed
public typealias StreamKind = Containers::StreamKind
public typealias StreamSelection = RetrogradeEngine::StreamSelection
public typealias Timing = RetrogradeEngine::Timing

/// Interleaved audio samples in memory, which are reversed in place.
public typealias SampleFrames = RetrogradeEngine::SampleFrames

// Results and messages.
public typealias Message = RetrogradeEngine::Message
public typealias Plan = RetrogradeEngine::Plan
public typealias RetrogradeError = RetrogradeEngine::RetrogradeError
public typealias Setting = RetrogradeEngine::Setting
public typealias Warning = RetrogradeEngine::Warning
public typealias GStreamerError = GStreamer::GStreamerError

/// A camera, microphone or screen.
public typealias Device = GStreamer::Device

// Drawing.
public typealias Color = Drawing::Color
public typealias DrawingContext = Drawing::DrawingContext
public typealias DrawingError = Drawing::DrawingError
public typealias Image = Drawing::Image
public typealias Paint = Drawing::Paint
public typealias Path = Drawing::Path
public typealias Point = Drawing::Point
public typealias Rectangle = Drawing::Rectangle
public typealias Size = Drawing::Size
public typealias Stroke = Drawing::Stroke
public typealias Text = Drawing::Text
