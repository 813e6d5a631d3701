#!/usr/bin/python3
"""Runs the libFuzzer targets (Fuzz/) for some seconds each, starting from inputs that ffmpeg makes.

    fuzz.py PROGRAM [--seconds 60] [--only NAME …] [--jobs 2] [--work .build/fuzz-inputs]

Inputs that libFuzzer finds interesting are kept in WORK/corpus, from where the next run continues.
Inputs that crash, trap or take longer than ten seconds are kept in WORK/crashes/TARGET. For each of
them, the command that repeats it is printed, and the exit status is 1.
"""
import argparse, concurrent.futures, glob, os, re, shutil, subprocess, sys
import hostile_media

MOVIES = ["h264_aac.mp4", "h264_rotated.mp4", "h264_chapters_subtitles.mp4", "hevc_opus.mp4", "h264_fragmented.mp4", "aac.m4a"]
MATROSKA = ["h264_aac.mkv", "h264_chapters_subtitles.mkv", "vp9_opus.webm", "live.mkv"]
# Audio that is read in place.
STORED = ["prores_pcm.mov", "mjpeg_pcm.mov", "pcm.mov", "pcm.mka"]
WAVES = ["pcm16.wav", "pcm24_51.wav", "pcm.w64", "rf64.wav", "adpcm.wav"]
CONTAINERS = ["mpeg4_mp3.avi", "mjpeg_pcm.avi", "flac.flac", "mp3.mp3", "vorbis.ogg", "opus.opus", "theora_vorbis.ogv", "h264_aac.flv",
              "moving.gif", "aac.aac", "h264_aac.ts", "mpeg2_mp2.ts", "h264_aac.m2ts", "mpeg2_mp2.mpg", "mpeg2_ac3.vob", "pcm.au",
              "pcm.aiff", "vp8.ivf", "wmv2_wma.wmv", "rv10.rm", "mxf.mxf", "raw.y4m", "wavpack.wv"]
# Initial inputs of each target: texts or files. Media files are cut to a fifth of a second.
SEEDS = {
    "ebml": MATROSKA, "matroska": MATROSKA, "movie-header": MOVIES, "movie-times": MOVIES,
    "declared": MOVIES + MATROSKA + WAVES + CONTAINERS,
    "stored-audio": STORED + WAVES,
    "wave": WAVES,
    "mp3": ["mp3.mp3", "mp3_free.mp3"],
    "apng": ["moving.apng", "still.png"], "webp": ["moving.webp"], "gif": ["still.png"],
    "pipeline": sorted(glob.glob("pipelines/*.pipeline")),
    "subtitles": ["text.srt", "text.ass", "text.vtt"],
    "values": [b"1:02.5", b"250f", b"30000/1001", b"29.97", b"512MiB", b"2.5G", b"video,audio:1", b"s:0,c", b"frames/%05d.png", b'"a\\303"'],
    "parameter-sets": [bytes.fromhex("0142c00affe1000c6742c00ada11bf9704000003000401000468ce0fc8"),
                       bytes.fromhex("0164000affe1000667640000af80010005" "68ebe3cb22fdf8f800")],
    "audio-layout": [b"", bytes(range(64))],
    "packets": [bytes([2]) + bytes.fromhex("562b84d19c052f413c6026e95c376f5d1b76979d3ac9c420431e8b9f5520512f4ef8a1683b837d0a4acb") + bytes(84),
                bytes([0x84]) + bytes(9) + bytes.fromhex("000000016742c00a0000000168ce0fc80000000165888400"), bytes([0]) + bytes.fromhex("ffd8ffe00008415649310100"),
                bytes(43) + bytes.fromhex("ff4fff51002f") + bytes(34) + bytes.fromhex("0003070101070202070202")],
    "requests": [f"{path}\n127.0.0.1:80\nbytes=10-19\n\"x\"\nBearer s3cret&more".encode() for path in
                 ["/", "/?token=s3cret%26more", "/ID/", "/favicon.ico", *(f"/ID/usual/{part}" for part in
                  ["master.m3u8", "info.json", "command.json?from=1&to=2.5", "VERSION/64/media.m3u8", "VERSION/64/2-3.m4s", "VERSION/64/init.mp4",
                   "VERSION/subtitles/0.vtt", "VERSION/pictures/1500.jpg", "VERSION/frames.bin", "VERSION/waveform.json", "VERSION/chapters.json"])]],
    "timeline": [b"", bytes(range(128)), bytes(64)],
}
CUT = (".mp4", ".mov", ".mkv", ".mka", ".webm", ".m4a", ".mp3", ".wav", ".w64", ".avi", ".flac", ".wv", ".ogg", ".opus", ".ogv", ".flv", ".aac", ".ts", ".m2ts", ".mpg",
       ".vob", ".au", ".aiff", ".ivf", ".wmv", ".rm", ".y4m")


def corpus(name, media, work):
    """Writes the initial inputs of a target into its folder, and returns the folder."""
    folder = os.path.join(work, "corpus", name)
    os.makedirs(folder, exist_ok=True)
    for number, seed in enumerate(SEEDS[name]):
        target = os.path.join(folder, f"seed-{number}")
        if isinstance(seed, bytes):
            with open(target, "wb") as file:
                file.write(seed)
        elif seed.endswith(CUT):
            extension = os.path.splitext(seed)[1]
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", os.path.join(media, seed), "-t", "0.2", "-map", "0",
                            "-c", "copy"] + (["-rf64", "always"] if seed == "rf64.wav" else []) + [target + extension])
            os.replace(target + extension, target)
        else:
            shutil.copy(seed if os.path.exists(seed) else os.path.join(media, seed), target)
    return folder


def dictionary(work):
    path = os.path.join(work, "dictionary")
    with open(path, "w") as file:
        for mark in hostile_media.MARKS:
            file.write('"' + "".join(f"\\x{byte:02x}" for byte in mark) + '"\n')
        for text in ("${", "$${", "}", "---", "@", "<i>", "</span>", "&amp;", "{\\\\an8}", " --> "):
            file.write('"' + text + '"\n')
    return path


def run(name, options, media):
    crashes = os.path.join(options.work, "crashes", name, "")
    os.makedirs(crashes, exist_ok=True)
    before = set(glob.glob(crashes + "*"))
    command = [options.program, corpus(name, media, options.work), f"-max_total_time={options.seconds}", "-timeout=10",
               "-rss_limit_mb=3000", f"-artifact_prefix={crashes}", f"-dict={dictionary(options.work)}", "-max_len=32768",
               "-print_final_stats=1", "-verbosity=0", "-close_fd_mask=1"]
    environment = dict(os.environ, FUZZ_TARGET=name, SWIFT_BACKTRACE="enable=no",
                       ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:handle_sigill=1")
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = done.stderr.decode(errors="replace")
    counts = [int(n) for n in re.findall(r"number_of_executed_units: (\d+)", text)]
    return name, done.returncode, sum(counts), sorted(set(glob.glob(crashes + "*")) - before), text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", nargs="*", choices=sorted(SEEDS), default=sorted(SEEDS))
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--work", default=".build/fuzz-inputs")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    media = os.path.join(options.work, "media")
    hostile_media.make(media)
    failed = False
    print(f"{'target':16} {'executions':>12}  crashes")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, status, count, crashes, text in pool.map(lambda name: run(name, options, media), options.only):
            failed |= status != 0
            print(f"{name:16} {count:12}  {len(crashes) if status == 0 or crashes else f'status {status}'}", flush=True)
            if status != 0:
                said = [line for line in text.splitlines() if re.search(r"Fatal error|ERROR|SUMMARY|ALARM|precondition", line, re.I)]
                print("    " + "\n    ".join(line[:200] for line in said[:4] or text.splitlines()[-3:]))
            for crash in crashes:
                print(f"    again: FUZZ_TARGET={name} SWIFT_BACKTRACE=enable=no {os.path.relpath(options.program)} {crash}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
