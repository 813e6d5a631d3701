import FoundationEssentials
import Soup
import Paths

/// HTML pages.
struct Page: Sendable {
  /// Player page of a stream.
  let player: Answer
  /// Text of the list page before and after the list of files.
  private let frame: (before: String, after: String)
  private let listPolicy: String

  init() {
    let page = String(decoding: PackageResources.page_html, as: UTF8.self)
    var answer = Answer(page, .html).kept(forever: false).secured(policy: Page.policy(page))
    answer.fields[.eTag] = "\"\(digest(page).prefix(16))\""
    player = answer
    let list = String(decoding: PackageResources.list_html, as: UTF8.self)
    let place = list.firstRange(of: "<!-- files -->")
    frame = (
      place.map { String(list[..<$0.lowerBound]) } ?? list, place.map { String(list[$0.upperBound...]) } ?? ""
    )
    listPolicy = Page.policy(list)
  }

  /// Returns the page with a list of files and their thumbnails.
  /// - Parameter suffix: text after each address.
  func list(_ files: [Catalog.File], suffix: String) -> Answer {
    var rows = files.isEmpty ? "<p>There are no media files here now.</p>" : ""
    var folder: String?
    for file in files {
      if file.folder != folder {
        if folder != nil { rows += "</ul>\n" }
        if !file.folder.isEmpty { rows += "<h2>\(file.folder.readablePath.escaped)</h2>\n" }
        rows += "<ul>\n"
        folder = file.folder
      }
      rows +=
        "<li><a href=\"/\(file.id)/\(suffix.escaped)\"><img src=\"/\(file.id)/picture.jpg\(suffix.escaped)\" alt=\"\" loading=\"lazy\">"
        + "<span>\(file.name.readablePath.escaped)</span></a></li>\n"
    }
    if folder != nil { rows += "</ul>\n" }
    return Answer(frame.before + rows + frame.after, .html).kept(forever: false).secured(policy: listPolicy)
  }

  /// Placeholder for the thumbnail of a file without video.
  static let placeholder = Array(
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 90"><rect width="160" height="90" fill="#8d8576" fill-opacity=".18"/>\
    <path d="M52 38v14M60 32v26M68 24v42M76 35v20M84 28v34M92 20v50M100 33v24M108 40v10" stroke="#8d8576" stroke-width="3" stroke-linecap="round"/></svg>
    """.utf8)

  /// Returns the content security policy of a page. It allows requests to this server, and the
  /// page's own scripts and styles, by their digests. Styles set by a script need no permission.
  private static func policy(_ page: String) -> String {
    func sources(_ element: String) -> String {
      let digests = contents(of: element, in: page).map { "'sha256-\(base64($0))'" }
      return digests.isEmpty ? "'none'" : digests.joined(separator: " ")
    }
    return
      "default-src 'none'; script-src \(sources("script")); style-src \(sources("style")); img-src 'self' blob: data:; "
      + "media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  }

  /// Returns the contents of the HTML elements that have this name, and no attributes.
  private static func contents(of element: String, in page: String) -> [String] {
    var found: [String] = []
    var rest = page[...]
    while let start = rest.firstRange(of: "<\(element)>"),
      let end = rest[start.upperBound...].firstRange(of: "</\(element)>")
    {
      found.append(String(rest[start.upperBound..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return found
  }

  /// Returns the SHA-256 digest of a text in Base64, as policies require.
  private static func base64(_ text: String) -> String {
    var digits = digestOfBytes(text)[...]
    var bytes: [UInt8] = []
    while !digits.isEmpty {
      bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
    return Data(bytes).base64EncodedString()
  }
}

extension String {
  /// Text escaped for HTML content and attributes.
  var escaped: String {
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar {
      case "&": text.append(contentsOf: "&amp;".unicodeScalars)
      case "<": text.append(contentsOf: "&lt;".unicodeScalars)
      case ">": text.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": text.append(contentsOf: "&quot;".unicodeScalars)
      case "'": text.append(contentsOf: "&#39;".unicodeScalars)
      default: text.append(scalar)
      }
    }
    return String(text)
  }
}
