#!/usr/bin/python3
"""Runs the command on damaged files, and checks how each run ends.

    hostile.py COMMAND [-n N] [--first K] [--seed S] [--jobs J] [--findings FOLDER]

Case K of a seed is always the same, whatever N is. Each case damages a small file that ffmpeg made,
and runs `reverse`, `info` or `plan` on it. Each run must end within 30 s and without a signal. The
exit status must be a known one, but not 70; if it is not 0, there must be a message. The output
folder must contain only a complete output, and the spool folder nothing. Violations are kept in
FOLDER, with the command that repeats them, and the exit status is 1.
"""
import argparse, collections, concurrent.futures, os, random, shlex, shutil, subprocess, sys, tempfile, time
import hostile_media

KNOWN = {0, 64, 65, 66, 69, 73, 74}
VIDEO_OUTPUTS = ["mp4", "mp4", "mkv", "mkv", "mov", "webm", "avi", "ts", "ogv", "gif", "webp", "apng", "%03d.png", "mka", "wav"]
SOUND_OUTPUTS = ["wav", "flac", "mp3", "m4a", "opus", "oga", "mka", "mp4", "mkv"]
OPTIONS = [["--strict"], ["--loop", "ping-pong"], ["--loop", "reverse-forward", "--count", "2"], ["--memory", "256KiB"],
           ["--no-audio"], ["--no-video"], ["--start", "0.3"], ["--end", "5f"], ["--fps", "5"], ["--width", "32"],
           ["--loop", "ping-pong", "--copy-forward"], ["--show-timecode"], ["--streams", "video,audio:0"], ["--timing", "source"],
           ["--progress", "json"], ["--deinterlace"]]


class Case:
    """Input, damage and arguments that follow from a number and a seed."""

    def __init__(self, number, seed, bases):
        draw = random.Random(f"{seed}:{number}")
        self.number = number
        self.base = draw.choice(sorted(bases))
        self.contents = {}
        for path in bases[self.base]:
            with open(path, "rb") as file:
                self.contents[os.path.basename(path)] = bytearray(file.read())

        def others(draw):
            with open(draw.choice(bases[draw.choice(sorted(bases))]), "rb") as file:
                return bytearray(file.read())
        self.damage = hostile_media.damage(draw, draw.choice(list(self.contents.values())), others)
        self.input = self.base
        if "%" not in self.base and draw.random() < 0.06:  # a name with a wrong extension
            self.input = "wrong" + draw.choice([".mp4", ".wav", ".mp3", ".gif", ".png", ".srt", ".mkv", ""])
            self.contents = {self.input: next(iter(self.contents.values()))}
        self.is_piped = "%" not in self.base and draw.random() < 0.06
        self.output = None
        verb = draw.random()
        if verb < 0.12:
            self.arguments = [draw.choice(["info", "plan"]), "-" if self.is_piped else os.path.join("in", self.input)]
            self.arguments += draw.choice([[], ["--json"]]) + draw.choice([[], ["--strict"]])
            return
        is_sound = os.path.splitext(self.base)[1] in (
            ".wav .mp3 .flac .ogg .oga .opus .aac .m4a .ac3 .w64 .aiff .au .caf .wv .mka").split()
        self.output = "o." + draw.choice(SOUND_OUTPUTS if is_sound else VIDEO_OUTPUTS)
        self.arguments = ["reverse", "-" if self.is_piped else os.path.join("in", self.input), os.path.join("out", self.output)]
        extension = self.output.rsplit(".", 1)[1]
        if extension in ("mkv", "mov", "mka", "wav") and draw.random() < 0.3:
            self.arguments += ["--quality", "lossless"]
        if draw.random() < 0.5:
            self.arguments += draw.choice(OPTIONS)
        if draw.random() < 0.05:
            name, text = draw.choice([("text.srt", hostile_media.SUBRIP), ("text.vtt", hostile_media.WEBVTT)])
            self.contents[name] = bytearray(text.encode())
            hostile_media.damage(draw, self.contents[name], others)
            self.arguments += ["--subtitles", os.path.join("in", name)]

    def write(self, folder):
        for name in "in", "out", "spool":
            os.makedirs(os.path.join(folder, name))
        for name, content in self.contents.items():
            with open(os.path.join(folder, "in", name), "wb") as file:
                file.write(content)


class Ending:
    """End of a run, and its violations."""

    def __init__(self, case, command, folder, limit):
        environment = dict(os.environ, TMPDIR=os.path.join(folder, "spool"), LC_ALL="C.UTF-8")
        environment.pop("SWIFT_BACKTRACE", None)  # Only the command's own message about a crash counts.
        environment.setdefault("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
        with open(os.path.join(folder, "stderr"), "w+b") as errors, open(os.path.join(folder, "stdout"), "wb") as out:
            piped = open(os.path.join(folder, "in", case.input), "rb") if case.is_piped else subprocess.DEVNULL
            began = time.monotonic()
            process = subprocess.Popen([command] + case.arguments, cwd=folder, env=environment, stdin=piped, stdout=out,
                                       stderr=errors)
            self.is_late = False
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                self.is_late = True
                self.threads = threads(process.pid)
                process.kill()
                process.wait()
            self.seconds = time.monotonic() - began
            errors.seek(0)
            self.errors = errors.read().decode(errors="replace")
        self.status = process.returncode
        self.wrong = self.judge(case, folder)

    def judge(self, case, folder):
        if self.is_late:
            return [f"still running after {self.seconds:.0f} s; {self.threads}"]
        wrong = []
        if self.status < 0:
            wrong.append(f"signal {-self.status}")
        elif self.status not in KNOWN:
            wrong.append(f"status {self.status}")
        if self.status > 0 and not any(l.startswith(("retrograde: ", "Error: ", '{"error":')) for l in self.errors.splitlines()):
            wrong.append("no message")
        left = sorted(os.listdir(os.path.join(folder, "out")))
        expected = case.output is not None and self.status == 0
        if expected and not left:
            wrong.append("no output")
        if not expected and left or expected and "%" not in case.output and left != [case.output]:
            wrong.append("left in the output folder: " + " ".join(left[:3]))
        if any(os.path.getsize(os.path.join(folder, "out", name)) == 0 for name in left):
            wrong.append("an empty output")
        if os.listdir(os.path.join(folder, "spool")):
            wrong.append("left in the spool folder: " + " ".join(os.listdir(os.path.join(folder, "spool"))[:3]))
        if sorted(os.listdir(os.path.join(folder, "in"))) != sorted(case.contents):
            wrong.append("the input folder has changed")
        wrong += [l[:160] for l in self.errors.splitlines() if "Fatal error" in l or "AddressSanitizer" in l][:2]
        return wrong

    @property
    def complaints(self):
        """Failed assertions that GLib and GStreamer print; most are of plugins, which survive."""
        return {line.split(": ", 2)[-1] for line in self.errors.splitlines() if "CRITICAL **" in line}


def threads(pid):
    """Names and states of a process's threads, each with its count."""
    names = collections.Counter()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/comm") as comm, open(f"/proc/{pid}/task/{thread}/stat") as stat:
                names[comm.read().strip() + "/" + stat.read().rsplit(")", 1)[1].split()[0]] += 1
    except OSError:
        pass
    return " ".join(f"{name}*{count}" for name, count in sorted(names.items()))


def run(number, options, bases):
    case = Case(number, options.seed, bases)
    with tempfile.TemporaryDirectory(prefix="hostile-", dir=options.scratch) as folder:
        case.write(folder)
        ending = Ending(case, options.command, folder, options.limit)
        if ending.wrong:
            kept = os.path.join(options.findings, f"{options.seed}-{number}")
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(os.path.join(folder, "in"), os.path.join(kept, "in"))
            os.makedirs(os.path.join(kept, "out"))
            shutil.copy(os.path.join(folder, "stderr"), kept)
            with open(os.path.join(kept, "run"), "w") as file:
                feed = f" < in/{case.input}" if case.is_piped else ""
                file.write(f"cd {shlex.quote(os.path.abspath(kept))} && rm -rf out && mkdir out && "
                           f"{options.command} {shlex.join(case.arguments)}{feed}\n")
        return case, ending


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("-n", type=int, default=500, help="number of cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--limit", type=float, default=30, help="time limit of a run, in seconds")
    parser.add_argument("--media", default=".build/hostile/media", help="folder of the undamaged files; missing ones are made")
    parser.add_argument("--findings", default=".build/hostile/findings")
    parser.add_argument("--scratch", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    options = parser.parse_args()
    options.command = os.path.abspath(options.command)
    bases = hostile_media.make(options.media)
    statuses, complaints, findings, slowest = collections.Counter(), collections.Counter(), [], (0.0, 0)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cases = (pool.submit(run, number, options, bases) for number in range(options.first, options.first + options.n))
        for done in [*cases]:
            case, ending = done.result()
            statuses["hang" if ending.is_late else ending.status] += 1
            complaints.update(ending.complaints)
            slowest = max(slowest, (ending.seconds, case.number))
            if ending.wrong:
                findings.append(case.number)
                message = next((l for l in ending.errors.splitlines() if l.startswith("retrograde: ")), "")
                print(f"{options.seed}-{case.number}: {case.base} ({', '.join(case.damage)}): {'; '.join(ending.wrong)}\n"
                      f"    retrograde {shlex.join(case.arguments)}\n    {message[:300]}", flush=True)
    print("\nstatus  files")
    for status, count in sorted(statuses.items(), key=str):
        print(f"{status:>6}  {count:5}")
    for complaint, count in complaints.most_common():
        print(f"{count:>6}  printed: {complaint[:120]}")
    print(f"slowest {slowest[0]:.1f} s (case {slowest[1]}); {len(findings)} findings in {options.n} files of seed {options.seed}"
          + (f"; each is in {options.findings}, with the command in its file `run`" if findings else ""))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
