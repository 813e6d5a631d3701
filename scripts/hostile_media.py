"""Makes small media in many containers and codecs with ffmpeg, and damages them, for hostile.py."""
import os, random, struct, subprocess

PICTURE = ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=1"]
LARGER = ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=1"]
SOUND = ["-f", "lavfi", "-i", "sine=f=440:r=44100:d=1"]
SHORT_GROUPS = ["-g", "5", "-pix_fmt", "yuv420p"]
X264 = ["-c:v", "libx264", "-preset", "ultrafast"] + SHORT_GROUPS
X264_B = ["-c:v", "libx264", "-preset", "veryfast", "-bf", "2"] + SHORT_GROUPS
X265 = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"] + SHORT_GROUPS
VP8, VP9 = ["-c:v", "libvpx", "-g", "5"], ["-c:v", "libvpx-vp9", "-g", "5", "-deadline", "realtime", "-cpu-used", "8"]
BOTH = PICTURE + SOUND

SUBRIP = "1\n00:00:00,100 --> 00:00:00,400\n<i>one</i> & two\n\n2\n00:00:00,500 --> 00:00:00,900\n{\\an8}three\n"
WEBVTT = "WEBVTT\n\n" + SUBRIP.replace(",", ".")
CHAPTERS = ";FFMETADATA1\ntitle=a title\nartist=somebody\n" + "".join(
    f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={a}\nEND={a + 500}\ntitle=part {a}\n" for a in (0, 500))

# File names, and the arguments that make the files.
RECIPES = {
    "h264_aac.mp4": BOTH + X264 + ["-c:a", "aac"],
    "h264_b_faststart.mp4": BOTH + X264_B + ["-c:a", "aac", "-movflags", "+faststart"],
    "h264_fragmented.mp4": BOTH + X264 + ["-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov+default_base_moof"],
    "h264_chapters_subtitles.mp4": BOTH + ["-i", "text.srt", "-i", "chapters.txt", "-map", "0", "-map", "1", "-map", "2",
                                           "-map_metadata", "3"] + X264 + ["-c:a", "aac", "-c:s", "mov_text"],
    "h264_rotated.mp4": ["-i", "h264_aac.mp4", "-c", "copy", "-metadata:s:v", "rotate=90"],
    "hevc_opus.mp4": BOTH + X265 + ["-c:a", "libopus"],
    "mpeg4_ac3.mp4": BOTH + ["-c:v", "mpeg4", "-c:a", "ac3"],
    "vp9.mp4": PICTURE + VP9,
    "h264_aac.mov": BOTH + X264_B + ["-c:a", "aac"],
    "prores_pcm.mov": BOTH + ["-c:v", "prores_ks", "-c:a", "pcm_s16le"],
    "mjpeg_pcm.mov": BOTH + ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s24le"],
    "qtrle.mov": PICTURE + ["-c:v", "qtrle"],
    "h263_amr.3gp": ["-f", "lavfi", "-i", "testsrc=s=176x144:r=10:d=1"] + SOUND + ["-c:v", "h263", "-c:a", "aac"],
    "h264_aac.mkv": BOTH + X264_B + ["-c:a", "aac"],
    "h264_chapters_subtitles.mkv": BOTH + ["-i", "text.srt", "-i", "chapters.txt", "-map", "0", "-map", "1", "-map", "2",
                                           "-map_metadata", "3"] + X264 + ["-c:a", "flac", "-c:s", "srt"],
    "ass.mkv": PICTURE + ["-i", "text.ass", "-map", "0", "-map", "1"] + X264 + ["-c:s", "ass"],
    "hevc_ac3.mkv": BOTH + X265 + ["-c:a", "ac3"],
    "ffv1_flac.mkv": BOTH + ["-c:v", "ffv1", "-c:a", "flac"],
    "av1_opus.mkv": BOTH + ["-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime", "-c:a", "libopus"],
    "mpeg2_mp2.mkv": BOTH + ["-c:v", "mpeg2video", "-bf", "2", "-g", "5", "-c:a", "mp2"],
    "live.mkv": BOTH + X264 + ["-c:a", "libvorbis", "-live", "1"],
    "dts.mka": SOUND + ["-c:a", "dca", "-strict", "-2", "-ar", "48000"],
    "vp8_vorbis.webm": BOTH + VP8 + ["-c:a", "libvorbis"],
    "vp9_opus.webm": BOTH + VP9 + ["-c:a", "libopus"],
    "vp8_alpha.webm": ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=1,format=yuva420p"] + VP8 + ["-auto-alt-ref", "0"],
    "vp8_larger.webm": LARGER + VP8,
    "vp9_larger.webm": LARGER + VP9,
    "vp8_video.webm": PICTURE + VP8,
    "vp9_video.webm": PICTURE + VP9,
    "vp8_changing.webm": ["-f", "concat", "-i", "vp8.list", "-c", "copy"],
    "vp9_changing.webm": ["-f", "concat", "-i", "vp9.list", "-c", "copy"],
    "mpeg4_mp3.avi": BOTH + ["-c:v", "mpeg4", "-c:a", "libmp3lame"],
    "mjpeg_pcm.avi": BOTH + ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le"],
    "h264_aac.ts": BOTH + X264_B + ["-c:a", "aac"],
    "mpeg2_mp2.ts": BOTH + ["-c:v", "mpeg2video", "-bf", "2", "-g", "5", "-c:a", "mp2"],
    "hevc_ac3.ts": BOTH + X265 + ["-c:a", "ac3"],
    "h264_aac.m2ts": BOTH + X264 + ["-c:a", "ac3"],
    "mpeg2_mp2.mpg": BOTH + ["-c:v", "mpeg2video", "-g", "5", "-c:a", "mp2"],
    "mpeg1.mpg": ["-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=1", "-c:v", "mpeg1video", "-g", "5"],
    "mpeg2_ac3.vob": BOTH + ["-c:v", "mpeg2video", "-g", "5", "-c:a", "ac3"],
    "h264_aac.flv": BOTH + X264 + ["-c:a", "aac"],
    "flv1_mp3.flv": BOTH + ["-c:v", "flv1", "-c:a", "libmp3lame"],
    "theora_vorbis.ogv": BOTH + ["-c:v", "libtheora", "-c:a", "libvorbis"],
    "wmv2_wmav2.asf": BOTH + ["-c:v", "wmv2", "-c:a", "wmav2"],
    "vorbis.ogg": SOUND + ["-c:a", "libvorbis"],
    "opus.opus": SOUND + ["-c:a", "libopus"],
    "flac.oga": SOUND + ["-c:a", "flac"],
    "flac.flac": SOUND + ["-c:a", "flac"],
    "speex.ogg": ["-f", "lavfi", "-i", "sine=r=16000:d=1", "-c:a", "libspeex"],
    "mp3.mp3": SOUND + ["-c:a", "libmp3lame", "-metadata", "title=a title"],
    "mp3_free.mp3": SOUND + ["-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0"],
    "aac.aac": SOUND + ["-c:a", "aac"],
    "aac.m4a": SOUND + ["-c:a", "aac"],
    "alac.m4a": SOUND + ["-c:a", "alac"],
    "ac3.ac3": SOUND + ["-c:a", "ac3"],
    "pcm16.wav": SOUND + ["-c:a", "pcm_s16le"],
    "pcm24_51.wav": ["-f", "lavfi", "-i", "sine=d=0.3", "-ac", "6", "-c:a", "pcm_s24le"],
    "float.wav": SOUND + ["-c:a", "pcm_f32le"],
    "adpcm.wav": SOUND + ["-c:a", "adpcm_ms"],
    "pcm.mov": SOUND + ["-c:a", "pcm_s16le"],
    "pcm.mka": SOUND + ["-c:a", "pcm_s24le"],
    "pcm.w64": SOUND + ["-c:a", "pcm_s16le"],
    "rf64.wav": SOUND + ["-c:a", "pcm_s16le", "-rf64", "always"],
    "pcm.aiff": SOUND + ["-c:a", "pcm_s16be"],
    "pcm.au": SOUND + ["-c:a", "pcm_s16be"],
    "pcm.caf": SOUND + ["-c:a", "pcm_s16be"],
    "wavpack.wv": SOUND + ["-c:a", "wavpack"],
    "moving.gif": PICTURE,
    "moving.apng": PICTURE + ["-f", "apng", "-plays", "0"],
    "moving.webp": PICTURE + ["-c:v", "libwebp_anim", "-loop", "0"],
    "still.png": PICTURE + ["-frames:v", "1"],
    "still.jpg": PICTURE + ["-frames:v", "1", "-pix_fmt", "yuvj420p"],
    "h264.h264": PICTURE + X264_B,
    "hevc.hevc": PICTURE + X265,
    "vp8.ivf": PICTURE + VP8,
    "wmv2_wma.wmv": BOTH + ["-c:v", "wmv2", "-c:a", "wmav2"],
    "rv10.rm": PICTURE + ["-c:v", "rv10"],
    "raw.y4m": ["-f", "lavfi", "-i", "testsrc=s=32x24:r=10:d=0.5", "-pix_fmt", "yuv420p"],
    "frames_%03d.png": ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.5"],
    "frames_%03d.jpg": ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.5", "-pix_fmt", "yuvj420p"],
    "mxf.mxf": ["-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=1", "-c:v", "mpeg2video"],
    # Audio whose channel layout changes within the stream, beside video.
    "stereo.ac3": SOUND + ["-ac", "2", "-ar", "48000", "-c:a", "ac3"],
    "surround.ac3": SOUND + ["-ac", "6", "-ar", "48000", "-c:a", "ac3"],
    "layout_changes.mkv": PICTURE + ["-i", "changing.ac3"] + X264 + ["-c:a", "copy"],
    "layout_changes.mp4": PICTURE + ["-i", "changing.ac3"] + X264 + ["-c:a", "copy"],
}


def make(folder):
    """Makes missing base files. Returns the paths of all, by the name to pass to the command."""
    os.makedirs(folder, exist_ok=True)

    def write(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    write("text.srt", SUBRIP)
    write("chapters.txt", CHAPTERS)
    for codec in "vp8", "vp9":
        write(codec + ".list", f"file {codec}_video.webm\nfile {codec}_larger.webm\n")
    ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
    for target in "text.ass", "text.vtt":
        subprocess.run(ffmpeg + ["-i", "text.srt", target], cwd=folder, check=True)
    made = {}
    for name, arguments in RECIPES.items():
        first = name % 1 if "%" in name else name
        if name.startswith("layout"):
            with open(os.path.join(folder, "changing.ac3"), "wb") as file:
                for part in "stereo.ac3", "surround.ac3":
                    with open(os.path.join(folder, part), "rb") as half:
                        file.write(half.read())
        if not os.path.exists(os.path.join(folder, first)):
            done = subprocess.run(ffmpeg + arguments + [name], cwd=folder, stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                print(f"hostile: this ffmpeg can't make {name}: {done.stderr.strip().splitlines()[-1:]}")
                for left in (first,):
                    if os.path.exists(os.path.join(folder, left)):
                        os.unlink(os.path.join(folder, left))
                continue
        files = sorted(f for f in os.listdir(folder) if f.startswith(name.split("%")[0]) and f.endswith(name[-4:])) \
            if "%" in name else [name]
        made[name] = [os.path.join(folder, f) for f in files]
    return made


# Bytes that precede a size, a count or a time in some container, where extreme values have most
# effect.
MARKS = [m.encode("latin-1") for m in (
    "moov mvhd trak tkhd mdhd hdlr stsd stts ctts stsc stsz stco co64 stss elst edts tref chap chpl udta mdat moof mfhd traf tfhd tfdt "
    "trun sidx ftyp avcC hvcC esds dOps vpcC mvex trex RIFF RF64 riff fmt  data ds64 fact LIST avih strh strf idx1 movi "
    "OggS fLaC ID3 Xing Info LAME FLV ADIF FORM COMM SSND caff desc IHDR IDAT acTL fcTL fdAT IEND NETSCAPE VP8  VP8X ANIM ANMF "
    "GIF8 DKIF YUV4 .snd wvpk .RMF PROP DATA").split(" ") if m] + [
    bytes.fromhex(h) for h in (
        "1a45dfa3 18538067 1549a966 1654ae6b 1f43b675 1c53bb6b 1043a770 4489 2ad7b1 ae d7 83 e0 b0 ba 54b0 54ba e1 b5 9f 56aa 56bb "
        "e7 a3 a0 a1 9b 75a1 000001ba 000001bb 000001bd 000001c0 000001e0 000001b3 000001b5 00000167 00000168 00000165 47").split()]
EXTREMES = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 1 << 24, 1 << 30,
            0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 1 << 40, 1 << 56]


def place(random, data):
    """Random position in `data`; more often near the start, the end, or a mark of a container."""
    kind = random.random()
    if kind < 0.35:
        mark = random.choice(MARKS)
        found = data.find(mark, random.randrange(len(data)) if random.random() < 0.5 else 0)
        if found >= 0:
            return min(found + random.randrange(-4, 40) if len(mark) > 1 else found + random.randrange(0, 4), len(data) - 1) % len(data)
    if kind < 0.6:
        return random.randrange(min(len(data), 1024))
    if kind < 0.75:
        return len(data) - 1 - random.randrange(min(len(data), 2048))
    return random.randrange(len(data))


def stretch(random, data):
    start = place(random, data)
    return start, min(len(data), start + random.choice([1, 2, 4, 8, 16, 64, 188, 512, 2048, 16384]))


def flip(random, data, others):
    for _ in range(random.choice([1, 1, 2, 8, 64, 512])):
        data[place(random, data)] ^= 1 << random.randrange(8)


def fill(random, data, others):
    start, end = stretch(random, data)
    data[start:end] = bytes([random.choice([0, 0, 0xFF, 0x20])]) * (end - start)


def noise(random, data, others):
    start, end = stretch(random, data)
    data[start:end] = random.randbytes(end - start)


def extreme(random, data, others):
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        size = random.choice([1, 2, 3, 4, 4, 4, 8])
        value = struct.pack(">Q", random.choice(EXTREMES))[-size:]
        start = place(random, data)
        data[start:start + size] = value if random.random() < 0.7 else value[::-1]


def nudge(random, data, others):
    """Changes a byte by a small amount."""
    start = place(random, data)
    data[start] = (data[start] + random.choice([-2, -1, 1, 2, 16])) % 256


def remove(random, data, others):
    start, end = stretch(random, data)
    del data[start:end]


def repeat(random, data, others):
    start, end = stretch(random, data)
    data[end:end] = data[start:end] * random.choice([1, 1, 2, 16])


def swap(random, data, others):
    (a, b), (c, d) = sorted([stretch(random, data), stretch(random, data)])
    if b <= c:
        data[a:d] = data[c:d] + data[b:c] + data[a:b]


def move(random, data, others):
    start, end = stretch(random, data)
    piece = data[start:end]
    del data[start:end]
    where = place(random, data) if data else 0
    data[where:where] = piece


def truncate(random, data, others):
    del data[random.randrange(len(data)) if random.random() < 0.7 else place(random, data):]


def behead(random, data, others):
    del data[:place(random, data)]


def concatenate(random, data, others):
    data += others(random)


def garbage(random, data, others):
    data += random.randbytes(random.choice([1, 3, 64, 4096]))


def graft(random, data, others):
    """Inserts or overwrites with a piece of another file."""
    other = others(random)
    start, end = stretch(random, other)
    where = place(random, data)
    data[where:where + (end - start if random.random() < 0.5 else 0)] = other[start:end]


WAYS = [flip, flip, flip, fill, fill, noise, extreme, extreme, extreme, extreme, nudge, nudge, remove, remove, repeat, swap, move,
        truncate, truncate, behead, concatenate, garbage, graft]


def damage(random, data, others):
    """Damages `data` in one to four ways; returns their names."""
    names = []
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 4])):
        if data:
            way = random.choice(WAYS)
            way(random, data, others)
            names.append(way.__name__)
    return names
