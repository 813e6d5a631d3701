import CGStreamer

/// Properties whose text is markup, in which `&` and `<` are special.
package enum Markup {
  /// Types with a markup property, which subclasses inherit. The text overlays (`textoverlay`,
  /// `clockoverlay`, `timeoverlay`) accept Pango markup; rsvgoverlay accepts SVG.
  private static let properties = [(type: "GstBaseTextOverlay", name: "text"), (type: "GstRsvgOverlay", name: "data")]

  /// True if `property` of elements of `factory` is markup.
  package static func isExpected(by property: String, of factory: String) -> Bool {
    guard let element = Element(factory: factory) else { return false }
    let instance = UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GTypeInstance.self)
    return properties.contains { known in
      // A type that is not registered yet has no instances.
      let type = g_type_from_name(known.type)
      return known.name == property && type != 0 && g_type_check_instance_is_a(instance, type) != 0
    }
  }

  /// Escapes `text` as markup (`g_markup_escape_text`).
  package static func escaped(_ text: String) -> String {
    takeString(g_markup_escape_text(text, gssize(text.utf8.count))) ?? text
  }
}
