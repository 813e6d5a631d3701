import CGStreamer
import GStreamer
import RetrogradeEngine

/// Messages to the application.
extension ReverseSource {
  func post(_ error: RetrogradeError) {
    let (domain, code): (GQuark, Int32) =
      switch error.code {
      case .noInput: (gst_resource_error_quark(), Int32(GST_RESOURCE_ERROR_NOT_FOUND.rawValue))
      case .missingPlugin: (gst_core_error_quark(), Int32(GST_CORE_ERROR_MISSING_PLUGIN.rawValue))
      case .inputOutput: (gst_resource_error_quark(), Int32(GST_RESOURCE_ERROR_READ.rawValue))
      case .usage: (gst_resource_error_quark(), Int32(GST_RESOURCE_ERROR_SETTINGS.rawValue))
      default: (gst_stream_error_quark(), Int32(GST_STREAM_ERROR_DECODE.rawValue))
      }
    let text = error.message.inProperties
    postError(element, domain, code, text, debug: error.underlying?.debug ?? text)
  }

  func debug(_ text: @autoclosure () -> String) { ReverseSource.log.write(.debug, text(), about: element) }

  /// Posts the warnings that were not posted before. May be called repeatedly, because decoder
  /// problems are known only after decoding.
  func warn(of warnings: [Warning]) {
    let new = state.withLock { state in
      warnings.map(\.message.inProperties).filter { state.warned.insert($0).inserted }
    }
    new.forEach(warn)
  }

  private func warn(_ text: String) {
    gst_element_message_full(
      element, GST_MESSAGE_WARNING, gst_stream_error_quark(), Int32(GST_STREAM_ERROR_DECODE.rawValue),
      g_strdup(text), g_strdup(text), #fileID, #function, #line)
  }
}
