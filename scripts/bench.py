#!/usr/bin/python3
"""Times the command and its peers, in turn. Prints medians and ratios to the first peer.

    bench.py COMMAND FOLDER [--rounds 5] [--only GROUP ...] [--write docs/benchmarks-results.md]
    bench.py COMMAND FOLDER --quick

Some groups use clips of FOLDER. The other clips are generated from a Mandelbrot zoom and noise, so
that no frame is like the one before. Run it on an idle machine: seconds differ between machines,
ratios hardly do.
"""
import argparse, os, re, shutil, statistics, subprocess, sys, tempfile, time

# Everything before this mark in the written file is kept. docs/benchmarks.md shows the plots.
MARK = "<!-- results: made by scripts/bench.py -->"
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


class Run:
    """Time and memory of one run of a command."""

    def __init__(self, command):
        # Otherwise this run might have to wait for data that earlier runs left to be written.
        os.sync()
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        errors = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: {process.returncode}: {errors.strip()[-300:]}")
        self.seconds = time.monotonic() - began
        self.mebibytes = usage.ru_maxrss / 1024


class Contender:
    def __init__(self, name, command, output=None):
        self.name, self.command, self.output, self.runs = name, [str(word) for word in command], output, []

    def median(self, field):
        return statistics.median(getattr(run, field) for run in self.runs)


class Bench:
    def __init__(self, options, scratch):
        self.retrograde, self.folder, self.rounds, self.scratch = options.command, options.folder, options.rounds, scratch
        self.written, self.lines = options.write, []

    def say(self, text):
        print(text, flush=True)
        self.lines.append(text)

    def out(self, name):
        return os.path.join(self.scratch, name)

    # Clips.

    def made(self, name, size, seconds, *encoding, rate=30, sound=True):
        path = self.out(name)
        if not os.path.exists(path):
            inputs = ["-f", "lavfi", "-i", f"mandelbrot=size={size}:rate={rate},noise=alls=6:allf=t,format=yuv420p"]
            inputs += ["-f", "lavfi", "-i", "aevalsrc='sin(t*t*300)|0.3*random(0)':s=48000"] if sound else []
            subprocess.run(["ffmpeg", "-v", "error", "-y", *inputs, "-t", str(seconds), *encoding, path], check=True)
        return path

    def h264(self, size, seconds, group=250):
        return self.made(f"{size}-{seconds}-{group}.mp4", size, seconds, "-c:v", "libx264", "-preset", "veryfast", "-crf", "26",
                         "-g", str(group), "-keyint_min", str(group), "-sc_threshold", "0", "-c:a", "aac")

    def real(self, name):
        path = os.path.join(self.folder, name)
        return path if os.path.exists(path) else None

    # Contenders.

    def reverse(self, clip, *options, to=".mp4", name="retrograde"):
        output = self.out(re.sub("[^a-z0-9]", "", name) + to)
        return Contender(name, [self.retrograde, "reverse", clip, output, "-y", "--quiet", *options], output)

    def ffmpeg(self, clip, *options, to=".mp4", name="ffmpeg reverse", filters=("-vf", "reverse", "-af", "areverse")):
        output = self.out(re.sub("[^a-z]", "", name) + to)
        return Contender(name, ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", clip, *filters, *options, output], output)

    def gst(self, clip, kilobits, preset):
        output = self.out("gst.mp4")
        text = (f"filesrc location={clip} ! decodebin ! queue ! videoconvert n-threads=2 ! x264enc bitrate={kilobits} "
                f"vbv-buf-capacity=0 speed-preset={preset} qp-max=34 psy-tune=ssim ! h264parse ! queue ! mp4mux ! "
                f"filesink location={output}")
        return Contender("gst-launch-1.0 forward", ["gst-launch-1.0", "-q", *text.split()], output)

    # Tables.

    def table(self, title, clip, contenders, note="", likeness=True):
        """Runs all contenders in turn. Prints a row for each, relative to the second: the peer."""
        for _ in range(self.rounds):
            for contender in contenders:
                try:
                    contender.runs.append(Run(contender.command))
                except (RuntimeError, FileNotFoundError) as error:
                    print(f"{contender.name}: {error}", file=sys.stderr)
        contenders = [contender for contender in contenders if contender.runs]
        peer = contenders[1] if len(contenders) > 1 else contenders[0]
        self.say(f"\n## {title}\n\n{note}Source: {os.path.getsize(clip):,} bytes.\n")
        self.say(f"| | seconds | relative to {peer.name} | peak RSS, MiB | size relative to the source | SSIM |\n|---|---|---|---|---|---|")
        for contender in contenders:
            size = os.path.getsize(contender.output) / os.path.getsize(clip) if contender.output else 0
            like = self.ssim(clip, contender) if likeness and contender.output else None
            self.say(f"| {contender.name} | {contender.median('seconds'):.2f} | "
                  f"{contender.median('seconds') / peer.median('seconds'):.2f} | {contender.median('mebibytes'):.0f} | "
                  f"{size:.2f} | {'%.4f' % like if like else ''} |")
        self.say("\n" + "\n".join(f"    {self.shown(contender.command)}" for contender in contenders))
        return contenders

    def shown(self, command):
        words = [word.replace(self.scratch + "/", "").replace(self.folder + "/", "") for word in command]
        return " ".join([os.path.basename(words[0])] + [f"'{word}'" if re.search(r"[ \[\];!]", word) else word for word in words[1:]])

    def ssim(self, clip, contender):
        turn = "" if "forward" in contender.name else "reverse,"
        graph = f"[0:v]setpts=N/25/TB[a];[1:v]{turn}setpts=N/25/TB,format=yuv420p[b];[a]format=yuv420p[c];[b][c]ssim"
        log = subprocess.run(["ffmpeg", "-v", "info", "-nostdin", "-noautorotate", "-i", clip, "-noautorotate", "-i",
                              contender.output, "-filter_complex", graph, "-fps_mode", "passthrough", "-f", "null", "-"],
                             stderr=subprocess.PIPE).stderr.decode(errors="replace")
        found = re.findall(r"All:([0-9.]+)", log)
        return float(found[-1]) if found else None

    # Groups.

    def defaults(self):
        clips = [("720p H.264", self.real("bigbuckbunny.mp4"), "A real clip, one group of pictures, six audio channels. "),
                 ("1080p H.264", self.h264("1920x1080", 6, 999), "Six seconds in one group, with audio. "),
                 ("1376x1840 HEVC from a phone", self.real("hevc8_portrait_vfr.mp4"), "A real clip; ffmpeg writes H.264. "),
                 ("4K H.264", self.h264("3840x2160", 2), "Two seconds, with audio. ")]
        for title, clip, note in clips:
            if not clip:
                continue
            melt, mpv = self.out("melt.mp4"), self.out("mpv.mp4")
            contenders = [
                self.reverse(clip), self.ffmpeg(clip),
                Contender("mpv", ["mpv", "--no-config", "--really-quiet", "--play-dir=backward", f"--o={mpv}", "--ovc=libx264",
                                  "--oac=aac", clip], mpv)]
            # melt decodes from the keyframe for each frame: the other clips would take minutes.
            if title.startswith("720p"):
                command = ["melt", "-silent", f"timewarp:-1:{clip}", "-consumer", f"avformat:{melt}", "vcodec=libx264"]
                contenders.append(Contender("melt", command, melt))
            self.table(f"{title}, each at its own default", clip, contenders, note)

    def codecs(self):
        encodings = {"HEVC": ["-c:v", "libx265", "-preset", "superfast", "-x265-params", "log-level=none", "-tag:v", "hvc1"],
                     "VP8": ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "2M"],
                     "VP9": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "2M"],
                     "AV1": ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-b:v", "2M"]}
        for codec, encoding in encodings.items():
            to = ".mp4" if codec == "HEVC" else ".webm"
            sound = ["-c:a", "aac" if codec == "HEVC" else "libopus"]
            clip = self.made(f"{codec.lower()}{to}", "960x540", 3, *encoding, "-g", "90", *sound)
            self.table(f"3 s of 960x540 in {codec}, reversed in the same codec", clip, [
                self.reverse(clip, to=to), self.ffmpeg(clip, name="ffmpeg reverse, into H.264"),
            ], "With audio. ffmpeg writes MP4 at its own default. ")

    def one_group(self):
        self.settings("1080p, one group of 180 frames", self.h264("1920x1080", 6, 999))

    def short_groups(self):
        self.settings("1080p, groups of 30 frames", self.h264("1920x1080", 10, 30))

    def settings(self, title, clip):
        silent = self.out("silent-" + os.path.basename(clip))
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", clip, "-an", "-c", "copy", silent], check=True)
        kilobits = 12_000
        same = ["--preset", "veryfast", "--bitrate", f"{kilobits}k"]
        x264 = ["-c:v", "libx264", "-preset", "veryfast", "-b:v", f"{kilobits}k", "-x264-params", "qpmax=34:aq-mode=2:psy=0"]
        self.table(f"{title}, the same encoder and settings", silent, [
            self.reverse(silent, *same, name="retrograde, 512 MiB"),
            self.ffmpeg(silent, *x264, filters=("-vf", "reverse")),
            self.reverse(silent, *same, "--memory", "128MiB", name="retrograde, 128 MiB"),
            self.reverse(silent, *same, "--memory", "2GiB", name="retrograde, 2 GiB"),
            self.gst(silent, kilobits, "veryfast"),
            self.ffmpeg(silent, *x264, filters=(), name="ffmpeg forward"),
        ], "x264, veryfast, 12 Mbit/s, no audio. ")

    def packets(self):
        clip = self.made("mjpeg.avi", "1920x1080", 20, "-c:v", "mjpeg", "-q:v", "5", rate=25, sound=False)
        copy = self.out("cp.avi")
        self.table("20 s of 1080p MJPEG, reversed as packets", clip, [
            self.reverse(clip, to=".avi"), Contender("cp", ["cp", clip, copy], None),
            self.ffmpeg(clip, to=".avi", filters=("-vf", "reverse")),
        ], "AVI. ")

    def sound(self):
        clip = self.out("sound.wav")
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "aevalsrc='sin(t*t)|0.5*random(0)':s=44100", "-t", "1800",
                        clip], check=True)
        self.table("Half an hour of stereo WAV", clip, [
            self.reverse(clip, to=".wav"), self.ffmpeg(clip, to=".wav", filters=("-af", "areverse")),
            Contender("sox", ["sox", clip, self.out("sox.wav"), "reverse"], self.out("sox.wav")),
            Contender("cp", ["cp", clip, self.out("cp.wav")], self.out("cp.wav")),
        ], "44.1 kHz, 16 bits. ", likeness=False)
        for title, to in [("MOV", ".mov"), ("Matroska", ".mkv"), ("AVI", ".avi")]:
            held = self.out("held" + to)
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", clip, "-c", "copy", held], check=True)
            copy = self.out("cp" + to)
            self.table(f"The same audio in {title}", held, [self.reverse(held, to=to), Contender("cp", ["cp", held, copy], copy)], likeness=False)

    def animations(self):
        clip = self.h264("960x540", 3)
        palette = "reverse,split[a][b];[a]palettegen[p];[b][p]paletteuse"
        self.table("A GIF of 3 s of 960x540", clip, [
            self.reverse(clip, to=".gif"), self.ffmpeg(clip, to=".gif", filters=("-lavfi", palette)),
            self.reverse(clip, "--colors", "128", to=".gif", name="retrograde, 128 colours"),
        ])
        self.table("A WebP of 3 s of 960x540", clip, [
            self.reverse(clip, to=".webp"),
            self.ffmpeg(clip, "-c:v", "libwebp_anim", "-loop", "0", to=".webp", filters=("-vf", "reverse", "-an")),
        ], likeness=False)

    def lengths(self):
        rows = []
        for seconds in [4, 8, 16, 32]:
            clip = self.h264("1280x720", seconds)
            pair = self.table(f"{seconds} s of 720p", clip, [
                self.reverse(clip, "--preset", "ultrafast"), self.ffmpeg(clip, "-preset", "ultrafast"),
            ], "Both with x264, ultrafast. ", likeness=False)
            rows.append((seconds, *((c.median("seconds"), c.median("mebibytes")) for c in pair)))
        self.plot("time-by-length", "seconds of film", "seconds", [
            ("retrograde", [(s, a[0]) for s, a, _ in rows]), ("ffmpeg reverse", [(s, b[0]) for s, _, b in rows])])
        self.plot("memory-by-length", "seconds of film", "peak RSS, MiB", [
            ("retrograde", [(s, a[1]) for s, a, _ in rows]), ("ffmpeg reverse", [(s, b[1]) for s, _, b in rows])])

    def likeness(self):
        clip = self.real("bigbuckbunny.mp4") or self.h264("1280x720", 5)
        lines = []
        for preset in ["medium", "veryfast", "superfast"]:
            points = []
            for kilobits in [1000, 1500, 2000, 3000]:
                contender = self.reverse(clip, "--no-audio", "--preset", preset, "--bitrate", f"{kilobits}k")
                Run(contender.command)
                points.append((os.path.getsize(contender.output), self.ssim(clip, contender)))
            lines.append((f"x264 {preset}", points))
        self.plot("ssim-by-bytes", "bytes", "SSIM", lines)

    def plot(self, name, x, y, lines):
        if not self.written:
            return
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = name
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(figsize=(6, 3.5))
        for label, points in lines:
            axes.plot(*zip(*points), marker="o", label=label)
        axes.set_xlabel(x), axes.set_ylabel(y), axes.legend(), axes.grid(alpha=0.3)
        if y != "SSIM":
            axes.set_ylim(bottom=0)
        folder = os.path.join(os.path.dirname(self.written), "plots")
        os.makedirs(folder, exist_ok=True)
        figure.savefig(os.path.join(folder, f"{name}.svg"), metadata={"Date": None}, bbox_inches="tight")

    def quick(self):
        """Prints three lines, for the most important cases."""
        self.rounds = 3
        clip = self.h264("1280x720", 4, 999)
        wave = self.out("quick.wav")
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "aevalsrc='sin(t*t)|0.5*random(0)':s=44100", "-t", "600",
                        wave], check=True)
        same = ["--preset", "veryfast", "--bitrate", "6000k"]
        x264 = ["-preset", "veryfast", "-b:v", "6000k"]
        pairs = [("720p at its own default", self.reverse(clip), self.ffmpeg(clip)),
                 ("720p, veryfast, same rate", self.reverse(clip, *same), self.ffmpeg(clip, *x264)),
                 ("ten minutes of WAV", self.reverse(wave, to=".wav"), self.ffmpeg(wave, to=".wav", filters=("-af", "areverse")))]
        for name, own, other in pairs:
            for _ in range(self.rounds):
                own.runs.append(Run(own.command)), other.runs.append(Run(other.command))
            print(f"{name:28} {own.median('seconds'):6.2f} s, {own.median('mebibytes'):5.0f} MiB   "
                  f"{own.median('seconds') / other.median('seconds'):.2f} x ffmpeg's reverse, "
                  f"{other.median('mebibytes'):.0f} MiB", flush=True)


GROUPS = ["defaults", "codecs", "one_group", "short_groups", "packets", "sound", "animations", "lengths", "likeness"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command"), parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", help="Markdown file whose results are replaced; plots go to a folder beside it")
    parser.add_argument("--only", nargs="*", choices=GROUPS, default=GROUPS)
    parser.add_argument("--quick", action="store_true", help="print three lines in two minutes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as scratch:
        bench = Bench(options, scratch)
        if options.quick:
            return bench.quick()
        version = subprocess.run([options.command, "--version"], stdout=subprocess.PIPE).stdout.decode().strip()
        bench.say(f"{os.cpu_count()} processors, {version}, medians of {options.rounds} runs, alternately.")
        for group in options.only:
            getattr(bench, group)()
            if options.write:
                with open(options.write, encoding="utf-8") as file:
                    before = file.read().split(MARK)[0]
                with open(options.write, "w", encoding="utf-8") as file:
                    file.write(before + MARK + "\n\n" + "\n".join(bench.lines) + "\n")


if __name__ == "__main__":
    main()
