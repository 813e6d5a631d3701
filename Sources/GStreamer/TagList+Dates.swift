import CGStreamer

/// Dates. GStreamer has two tags: `date` is a whole day; `datetime` may be a year, a month, a day
/// or a time.
extension TagList {
  /// The list with a `date` added if the list has a `datetime` with a day, but neither a `date` nor
  /// a comment called `DATE`. GStreamer's muxers write only `date`.
  package var withDate: TagList {
    guard !has(GST_TAG_DATE), dateComments.isEmpty, let (year, month, day) = dateParts, let month, let day,
      let list = TagList("taglist, date=(date)\(year)-\(month)-\(day)")
    else { return self }
    return merging(list)
  }

  /// Like ``withDate``, but adds a `date` even if only the year is known; for muxers that write
  /// only the year.
  package var withYear: TagList {
    let told = dateComments.first.flatMap { Int32($0.prefix(4)) } ?? dateParts?.year
    guard !has(GST_TAG_DATE), let year = told, let list = TagList("taglist, date=(date)\(year)-1-1") else {
      return withDate
    }
    return withDate.merging(list)
  }

  /// Date without a day, such as `2020` or `2020-05`; nil if the day is known, or the list has no
  /// `datetime`.
  package var partialDate: String? {
    guard let parts = dateParts, parts.day == nil else { return nil }
    return texts(of: GST_TAG_DATE_TIME)?.first
  }

  /// The list without its `date` if a demuxer invented the day, because the file has only a year,
  /// or a year and a month.
  package var withoutInventedDate: TagList {
    guard let date = texts(of: GST_TAG_DATE)?.first else { return self }
    var isInvented = dateComments.contains { (4..<date.count).contains($0.count) && date.hasPrefix($0) }
    if time == nil, let told = texts(of: GST_TAG_DATE_TIME)?.first, let year = dateParts?.year {
      isInvented = isInvented || partialDate.map(date.hasPrefix) ?? (told != date && date == "\(year)-01-01")
    }
    return isInvented ? removing([GST_TAG_DATE]) : self
  }

  /// Value of the first comment called `DATE`; nil if there is none.
  package var dateComment: String? { dateComments.first.map(String.init) }

  /// Creates a list with only a `datetime`.
  /// - Parameter date: year, month or day, such as `2020`, `2020-05` or `2020-05-06`.
  package convenience init?(dateTime date: String) { self.init("taglist, datetime=(datetime)\(date)") }

  /// Values of comments called `DATE`, which a file may have besides the creation time in its
  /// header.
  private var dateComments: [Substring] {
    strings(GST_TAG_EXTENDED_COMMENT).filter { $0.hasPrefix("DATE=") }.map { $0.dropFirst(5) }
  }

  private var dateParts: (year: Int32, month: Int32?, day: Int32?)? {
    var dateTime: OpaquePointer?
    guard gst_tag_list_get_date_time(raw, GST_TAG_DATE_TIME, &dateTime) != 0, let dateTime else { return nil }
    defer { gst_date_time_unref(dateTime) }
    return (
      gst_date_time_get_year(dateTime),
      gst_date_time_has_month(dateTime) != 0 ? gst_date_time_get_month(dateTime) : nil,
      gst_date_time_has_day(dateTime) != 0 ? gst_date_time_get_day(dateTime) : nil
    )
  }

  /// Converts a time to text such as `2020-05-06T07:08:09Z`.
  /// - Parameter time: seconds since 1970.
  package static func dateTime(_ time: Int) -> String {
    guard let value = gst_date_time_new_from_unix_epoch_utc(gint64(time)) else { return "" }
    defer { gst_date_time_unref(value) }
    return takeString(gst_date_time_to_iso8601_string(value)) ?? ""
  }

  /// Creation time in seconds since 1970; nil if the list has no creation time, or only a date
  /// without a time of day.
  package var time: Int? {
    var dateTime: OpaquePointer?
    guard gst_tag_list_get_date_time(raw, GST_TAG_DATE_TIME, &dateTime) != 0, let dateTime else { return nil }
    defer { gst_date_time_unref(dateTime) }
    guard gst_date_time_has_time(dateTime) != 0, let time = gst_date_time_to_g_date_time(dateTime) else { return nil }
    defer { g_date_time_unref(time) }
    return Int(g_date_time_to_unix(time))
  }
}
