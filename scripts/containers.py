#!/usr/bin/python3
"""Measures the same film in each container, and prints Markdown.

    containers.py COMMAND [--minutes 5 30] [--only NAME ...] [--size 480x270] [--rounds N]

Measures the time of `info`, of the source's last frame, and of the whole reversal from a file and
from a pipe; the largest size of the spool, by the unlinked files that the process has open; and the
peak memory (RSS). A film is 20 seconds of a Mandelbrot zoom with noise, with a keyframe every 60
frames, repeated without encoding it again. Run it on an idle machine.
"""
import argparse, os, statistics, subprocess, tempfile, threading, time

H264 = "-c:v libx264 -preset veryfast -g 60 -keyint_min 60 -sc_threshold 0 -c:a aac"
MPEG2 = "-c:v mpeg2video -q:v 4 -bf 2 -g 15 -c:a mp2"
# Name, arguments that make the 20 seconds, extension, and arguments or method to repeat them.
KINDS = [
    ("MP4", H264, "mp4", ""),
    ("MP4 in fragments", H264, "mp4", "-movflags frag_keyframe+empty_moov"),
    ("MKV", H264, "mkv", ""),
    ("MKV without cues", H264, "mkv", "PIPE"),
    ("MPEG-TS, H.264", H264, "ts", ""),
    ("FLV", H264, "flv", ""),
    ("AVI, H.264", H264.replace("-g 60", "-g 60 -bf 0"), "avi", ""),
    ("raw H.264", H264.replace("-c:a aac", "-an"), "h264", "BYTES"),
    ("MPEG-TS, HEVC", "-c:v libx265 -preset veryfast -x265-params keyint=60:log-level=none -c:a aac", "ts", ""),
    ("MPEG-TS, MPEG-2", MPEG2, "ts", ""),
    ("VOB, MPEG-2", MPEG2, "vob", ""),
    ("MXF, MPEG-2", MPEG2.replace("-c:a mp2", "-c:a pcm_s16le"), "mxf", ""),
    ("WMV", "-c:v wmv2 -q:v 4 -g 60 -c:a wmav2", "wmv", ""),
    ("Ogg, Theora", "-c:v libtheora -q:v 7 -g 60 -c:a libvorbis", "ogv", ""),
]


def ffmpeg(arguments, **more):
    # "fatal", because muxers warn about repeated packets.
    subprocess.run(["ffmpeg", "-v", "fatal", "-nostdin", "-y", *arguments], check=True, **more)


class Run:
    """Cost of one run of a command: seconds, MiB of memory, MiB of spool."""

    def __init__(self, command, spool, source=None):
        began = time.monotonic()
        feed = subprocess.Popen(["cat", source], stdout=subprocess.PIPE) if source else None
        process = subprocess.Popen(
            command, stdin=feed.stdout if feed else subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.spool, ended = 0, threading.Event()
        watch = threading.Thread(target=self.watch, args=(process.pid, spool, ended))
        watch.start()
        errors = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        self.seconds, self.memory = time.monotonic() - began, usage.ru_maxrss / 1024
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watch.join()
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: {process.returncode}: {errors.strip()[-300:]}")

    def watch(self, pid, spool, ended):
        folder = f"/proc/{pid}/fd"
        while not ended.wait(0.05):
            size = 0
            try:
                for name in os.listdir(folder):
                    path = os.path.join(folder, name)
                    if os.readlink(path).startswith(spool):
                        size += os.stat(path).st_blocks * 512
            except OSError:
                pass
            self.spool = max(self.spool, size / 2**20)


def film(kind, minutes, options, scratch):
    name, codec, extension, repeat = kind
    short = os.path.join(scratch, f"short-{KINDS.index(kind)}.{extension}")
    path = os.path.join(scratch, f"film-{minutes}.{extension}")
    if not os.path.exists(short):
        ffmpeg(["-f", "lavfi", "-i", f"mandelbrot=size={options.size}:rate=30,noise=alls=6:allf=t,format=yuv420p",
                "-f", "lavfi", "-i", "aevalsrc='sin(t*t*300)|0.3*random(0)':s=48000", "-t", "20", *codec.split(), short])
    loop = ["-stream_loop", str(minutes * 3 - 1), "-i", short, "-map", "0", "-c", "copy"]
    if repeat == "BYTES":
        with open(path, "wb") as file, open(short, "rb") as once:
            content = once.read()
            for _ in range(minutes * 3):
                file.write(content)
    elif repeat == "PIPE":
        with open(path, "wb") as file:
            ffmpeg([*loop, "-f", "matroska", "-"], stdout=file)
    else:
        ffmpeg([*loop, *repeat.split(), path])
    return path


def row(kind, minutes, options, scratch):
    path = film(kind, minutes, options, scratch)
    out = os.path.join(scratch, "out.mkv")
    spool = os.path.join(scratch, "spool")
    os.makedirs(spool, exist_ok=True)
    options_of_all = ["--quiet", "--overwrite", "--spool-dir", spool]
    first = [options.command, "frame", path, "last", os.path.join(scratch, "f.png"), "--overwrite"]
    whole = [options.command, "reverse", path, out, *options_of_all]
    piped = [options.command, "reverse", "-", out, *options_of_all]
    taken = {}
    for label, command, source in [("info", [options.command, "info", path], None), ("frame", first, None), ("whole", whole, None),
                                   ("pipe", piped, path)]:
        try:
            runs = [Run(command, spool, source) for _ in range(options.rounds)]
            taken[label] = (statistics.median(run.seconds for run in runs), max(run.memory for run in runs),
                            max(run.spool for run in runs))
        except RuntimeError as error:
            print(error, flush=True)
            taken[label] = None
    size = os.path.getsize(path) / 2**20
    os.remove(path)

    def seconds(label):
        return "–" if taken[label] is None else f"{taken[label][0]:.1f}"

    memory, room = (taken["whole"] or (0, 0, 0))[1:]
    return (f"| {kind[0]} | {minutes} min, {size:.0f} MiB | {seconds('info')} | {seconds('frame')} | {seconds('whole')} "
            f"| {seconds('pipe')} | {room:.0f} MiB | {memory:.0f} MiB |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--minutes", type=int, nargs="+", default=[5, 30])
    parser.add_argument("--only", nargs="+", help="names of containers")
    parser.add_argument("--size", default="480x270")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--scratch", help="folder with room for the films")
    options = parser.parse_args()
    print("| film | length, size | `info`, s | a frame at its end, s | all of it, s | from a pipe, s | spool | memory |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        for kind in KINDS:
            if options.only and kind[0] not in options.only:
                continue
            for minutes in options.minutes:
                print(row(kind, minutes, options, scratch), flush=True)


main()
