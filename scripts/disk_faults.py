#!/usr/bin/python3
"""Makes the disk fail under the command, at one call after the other, and checks how each run ends.

    disk_faults.py COMMAND [--calls 12] [--only WORD] [--jobs 2]

Each scenario reverses a small clip. A shim between the command and the C library (faultshim.c)
makes the n-th call of a kind fail: writing to the output and the spool, reading the input and the
spool, syncing, opening, naming, truncating, starting threads. This is repeated for up to --calls
values of n, spread over all calls. Each run must end like this:

- The exit status is 74 (or 73 if the output can't be opened or named), and there is a message.
- Or the status is 0, and the output is the same as without a fault. It may differ only if the input
  could not be read and a warning says so.
- An older output is unchanged, unless the status is 0. No other file is left. Nothing hangs.
- Short reads and writes, and calls interrupted by a signal, have no effect at all.

The same is checked in small file systems in memory that become full. If they can't be mounted, a
message says so. The exit status is 1 if a check fails.
"""
import argparse, concurrent.futures, errno, hashlib, os, re, shutil, subprocess, sys, tempfile
import hostile_media

HERE = os.path.dirname(os.path.abspath(__file__))
OLD = b"what was here before"
# Output, further arguments (- for a source from a pipe), and source.
FILMS = [
    ("o.mp4", [], "h264_aac.mp4"), ("o.mkv", ["--quality", "lossless", "--memory", "100KiB"], "h264_aac.mp4"),
    ("o.webm", [], "vp8_vorbis.webm"), ("o.gif", [], "moving.gif"), ("o.webp", ["--loop", "ping-pong"], "h264_aac.mp4"),
    ("o.apng", [], "moving.apng"), ("o.wav", [], "pcm16.wav"), ("o.mp3", [], "mp3.mp3"),
    ("o.ts", ["--memory", "100KiB"], "h264_aac.ts"), ("o-%03d.png", [], "h264_aac.mp4"), ("o.mov", ["-"], "h264_aac.mov"),
]
# Kind of call, folder, error (0: half of the bytes), if it fails once or from then on, and allowed
# exit statuses.
FAULTS = [
    ("write", "out", errno.ENOSPC, "on", {74}), ("write", "out", errno.EIO, "once", {74}), ("write", "out", errno.EINTR, "once", {0}),
    ("write", "out", 0, "on", {0}),
    ("write", "spool", errno.ENOSPC, "on", {74}), ("write", "spool", errno.EIO, "once", {74}), ("write", "spool", errno.EINTR, "once", {0}),
    ("write", "spool", 0, "on", {0}),
    ("read", "spool", errno.EIO, "once", {0, 74}), ("read", "spool", errno.EINTR, "once", {0}), ("read", "spool", 0, "on", {0}),
    ("read", "in", errno.EIO, "on", {74}), ("read", "in", errno.EIO, "once", {74}), ("read", "in", errno.EINTR, "once", {0}),
    ("read", "in", 0, "on", {0}),
    ("fsync", "out", errno.EIO, "once", {74}), ("fsync", "out", errno.ENOSPC, "once", {74}),
    ("link", "out", errno.EIO, "on", {73, 74}), ("link", "out", errno.ENOSPC, "on", {73, 74}),
    ("open", "out", errno.ENOSPC, "on", {73, 74}), ("open", "out", errno.EACCES, "on", {73, 74}), ("open", "spool", errno.EMFILE, "on", {74}),
    ("truncate", "spool", errno.EIO, "on", {0, 74}), ("truncate", "out", errno.EIO, "on", {0, 74}),
    ("thread", "", errno.EAGAIN, "once", {70, 73, 74}),
]


class Run:
    def __init__(self, options, film, environment=(), out=None, spool=None, limit=150):
        output, arguments, source = film
        self.film = film
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            folder = os.path.realpath(folder)
            paths = {name: os.path.join(folder, name) for name in ("in", "out", "spool")}
            paths.update({name: path for name, path in (("out", out), ("spool", spool)) if path})
            for path in paths.values():
                os.makedirs(path, exist_ok=True)
            shutil.copy(os.path.join(options.media, source), paths["in"])
            is_piped = "-" in arguments
            self.old = os.path.join(paths["out"], output % 1 if "%" in output else output)
            try:
                with open(self.old, "wb") as file:
                    file.write(OLD)
            except OSError:
                os.unlink(self.old)
            self.command = [options.command, "reverse", "-" if is_piped else os.path.join(paths["in"], source),
                            os.path.join(paths["out"], output), "-y", "--spool-dir", paths["spool"]] + [a for a in arguments if a != "-"]
            count = os.path.join(folder, "count")
            shim = dict(environment)
            if shim:
                shim = dict(shim, LD_PRELOAD=options.shim, FAULT_UNDER=paths.get(shim.get("FAULT_UNDER"), ""), FAULT_COUNT=count)
            stdin = open(os.path.join(paths["in"], source), "rb") if is_piped else subprocess.DEVNULL
            try:
                done = subprocess.run(self.command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=limit,
                                      env=dict(os.environ, G_DEBUG="", **shim))
                self.status, self.errors = done.returncode, done.stderr.decode(errors="replace")
            except subprocess.TimeoutExpired as late:
                self.status, self.errors = "hang", (late.stderr or b"").decode(errors="replace")
            self.calls = int(open(count).read()) if os.path.exists(count) else 0
            self.left = sorted(os.listdir(paths["out"]) + os.listdir(paths["spool"]))
            kept = open(self.old, "rb").read() if os.path.exists(self.old) else None
            self.is_old = kept == OLD
            # If renaming fails, older files can't be moved back either; the message says where they
            # are.
            aside = re.search("files that existed before are in (.*)", self.errors)
            self.is_aside = aside is not None and any(
                open(os.path.join(aside[1], name), "rb").read() == OLD for name in os.listdir(aside[1]))
            self.digest = None if self.is_old or kept is None else digest(paths["out"], output, self.left)
            for name in self.left if out else []:
                os.unlink(os.path.join(paths["out"], name))

    @property
    def is_said_to_be_cut(self):
        return any(line.startswith("retrograde: warning: damaged: reading failed") for line in self.errors.splitlines())

    def wrong(self, whole, allowed):
        """List of violations; `whole` is the run without a fault."""
        found = []
        if self.status not in allowed:
            found.append(f"status {self.status}")
        if self.status == 0:
            if self.digest != whole.digest and not self.is_said_to_be_cut:
                found.append("another film, with status 0")
            if self.left != whole.left and not ("%" in self.film[0] and self.is_said_to_be_cut):
                found.append("left: " + " ".join(self.left))
            return found
        if not any(line.startswith("retrograde: ") for line in self.errors.splitlines()):
            found.append("no message")
        if self.is_aside:
            return found
        if not self.is_old:
            found.append("the old file is lost")
        if [name for name in self.left if name != os.path.basename(self.old)]:
            found.append("left: " + " ".join(self.left))
        return found


def digest(folder, output, names):
    """Digest of all decoded frames and samples."""
    if "%" in output:
        pictures = [os.path.join(folder, name) for name in names if not name.startswith(".")]
        return hashlib.md5(b"".join(open(picture, "rb").read() for picture in pictures)).hexdigest()
    decoded = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", os.path.join(folder, output), "-map", "0:v?", "-map", "0:a?",
                              "-f", "framemd5", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return hashlib.md5(decoded).hexdigest()


def spread(count, most):
    """Up to `most` numbers of 1...count: the first ones, the last ones, and some in between."""
    if count <= most:
        return list(range(1, count + 1))
    some = {1, 2, 3, count - 1, count} | {1 + round(i * (count - 1) / (most - 5)) for i in range(most - 5)}
    return sorted(number for number in some if 1 <= number <= count)


def scenario(options, film, fault, whole):
    kind, place, error, how, allowed = fault
    environment = {"FAULT_CALLS": kind, "FAULT_UNDER": place}
    name = f"{film[0]:11} {kind} {place} {errno.errorcode.get(error, 'by halves')} {how}"
    calls = Run(options, film, environment).calls
    numbers = [1] if error == 0 else spread(calls, options.calls)
    findings = []
    for number in numbers if calls else []:
        run = Run(options, film, dict(environment, FAULT_FIRST=str(number), FAULT_LAST=str(number if how == "once" else 10**9),
                                      FAULT_ERRNO=str(error)))
        # Threads divide the work differently in each run, so a run may end before call `number`.
        if run.calls < number:
            continue
        # Work may succeed without an optional thread or file. If the input comes through a pipe,
        # the spool counts as input.
        is_input = kind == "read" and (place == "in" or "-" in film[1])
        wrong = run.wrong(whole, allowed | {0} if kind in ("thread", "open") or is_input else allowed)
        if wrong:
            message = next((l for l in run.errors.splitlines() if l.startswith("retrograde: ")), run.errors.strip()[:160])
            findings.append(f"  {name}, call {number} of {calls}: {'; '.join(wrong)}\n      {message[:220]}")
    return name, len(numbers) if calls else 0, findings


def full_disks(options, wholes):
    """Runs in file systems of a few KiB; yields name, number of runs, and findings."""
    with tempfile.TemporaryDirectory() as folder:
        for film in FILMS:
            for place in "out", "spool":
                findings = []
                for size in 8, 32, 64, 256:
                    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], stderr=subprocess.PIPE)
                    if mounted.returncode != 0:
                        print("faults: no file systems in memory: " + mounted.stderr.decode().strip())
                        return
                    try:
                        run = Run(options, film, **{place: folder})
                        wrong = run.wrong(wholes[film[0]], {0, 74})
                        if wrong:
                            findings.append(f"  {film[0]:11} {size} KiB for {place}: {'; '.join(wrong)}\n      {run.errors.strip()[:220]}")
                    finally:
                        subprocess.run(["umount", folder], check=True)
                yield f"{film[0]:11} a full disk for {place}", 4, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--calls", type=int, default=12, help="number of calls of each kind to make fail, one in each run")
    parser.add_argument("--only", default="", help="run only scenarios whose names contain this")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--media", default=".build/hostile/media")
    options = parser.parse_args()
    options.command, options.media = os.path.abspath(options.command), os.path.abspath(options.media)
    hostile_media.make(options.media)
    options.shim = os.path.abspath(".build/faultshim.so")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", options.shim, os.path.join(HERE, "faultshim.c"), "-ldl"], check=True)
    wholes = {film[0]: Run(options, film) for film in FILMS}
    for name, whole in wholes.items():
        if whole.status != 0 or whole.digest is None:
            sys.exit(f"faults: {name} can't be made without faults either: {whole.errors}")
    runs, failed = 0, []

    def report(name, count, findings):
        nonlocal runs
        runs += count
        failed.extend(findings)
        if count:
            print("\n".join([f"{name:48} {count:4} runs, {len(findings)} failed"] + findings), flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(scenario, options, film, fault, wholes[film[0]]) for film in FILMS for fault in FAULTS
                   if options.only in f"{film[0]:11} {fault[0]} {fault[1]} {errno.errorcode.get(fault[2], 'by halves')} {fault[3]}"]
        for result in waiting:
            report(*result.result())
    for result in full_disks(options, wholes) if options.only in "a full disk" else []:
        report(*result)
    print(f"faults: {runs} runs with a fault, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
