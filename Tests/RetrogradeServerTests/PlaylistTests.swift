import MediaTime
import Retrograde
import Testing

@testable import RetrogradeServer

@Suite struct PlaylistTests {
  @Test("a master playlist has every video size, with audio and subtitles")
  func masterPlaylist() {
    let stream = FakeStream(subtitles: [
      .init(language: "de", title: nil, text: ""), .init(language: nil, title: "Signs", text: ""),
    ])
    #expect(
      Playlist.master(stream, at: "0123", suffix: "?token=t") == """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Film 'one'",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="0123/audio/media.m3u8?token=t"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subtitles",NAME="de",LANGUAGE="de",DEFAULT=NO,AUTOSELECT=YES,URI="0123/subtitles/0.m3u8?token=t"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subtitles",NAME="Signs 2",DEFAULT=NO,AUTOSELECT=YES,URI="0123/subtitles/1.m3u8?token=t"
        #EXT-X-STREAM-INF:BANDWIDTH=2130000,AVERAGE-BANDWIDTH=1120000,CODECS="avc1.64001F,mp4a.40.2",RESOLUTION=960x540,FRAME-RATE=29.97,AUDIO="audio",SUBTITLES="subtitles"
        0123/540/media.m3u8?token=t
        #EXT-X-STREAM-INF:BANDWIDTH=2130000,AVERAGE-BANDWIDTH=1120000,CODECS="avc1.64001F,mp4a.40.2",RESOLUTION=480x270,FRAME-RATE=29.97,AUDIO="audio",SUBTITLES="subtitles"
        0123/270/media.m3u8?token=t

        """)
  }

  @Test("the playlist of a rendition has exact segment lengths")
  func mediaPlaylist() {
    #expect(
      Playlist.media(FakeStream().renditions[0]) == """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:5
        #EXT-X-MEDIA-SEQUENCE:0
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-MAP:URI="init.mp4"
        #EXTINF:4,
        0.m4s
        #EXTINF:4.5,
        1.m4s
        #EXTINF:1.500000001,
        2.m4s
        #EXT-X-ENDLIST

        """)
  }

  @Test("a subtitle playlist lists one file for the whole duration")
  func subtitlePlaylist() {
    #expect(
      Playlist.subtitles(1, of: ClockTime(seconds: 10.25)) == """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:10
        #EXT-X-MEDIA-SEQUENCE:0
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXTINF:10.25,
        1.vtt
        #EXT-X-ENDLIST

        """)
  }

  @Test("WebVTT gets a timestamp map")
  func timestampMap() {
    let text = "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n"
    #expect(
      Playlist.timed(text)
        == "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n00:00.000 --> 00:01.000\nHello\n")
    #expect(Playlist.timed(Playlist.timed(text)) == Playlist.timed(text), "once is enough")
    #expect(Playlist.timed("no subtitles") == "no subtitles")
  }
}
