#!/usr/bin/env python3
"""Ends runs of the command at random moments, and checks which files are left.

  faults.py kill   [--count N] [--seed S] COMMAND    kill -9
  faults.py cancel [--count N] [--seed S] COMMAND    SIGINT, SIGTERM, SIGHUP and SIGQUIT

A run that was ended must leave no file in the folders of the output and the spool, and an older
output must be unchanged. A run that ended by itself must have made a complete file. A cancelled run
must end within 30 s, with status 128 plus the signal's number.
"""
import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FRAMES = 120
SOURCE = (
    f"videotestsrc num-buffers={FRAMES} ! video/x-raw,width=320,height=240,framerate=30/1 ! x264enc key-int-max=30 ! "
    f"h264parse ! queue ! mux. audiotestsrc num-buffers={FRAMES} samplesperbuffer=1600 ! audio/x-raw,rate=48000,channels=2 ! "
    "avenc_aac ! aacparse ! queue ! mux. matroskamux name=mux ! filesink location="
)
SUBTITLES = "1\n00:00:00,500 --> 00:00:01,500\nonce more\n"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


class Job:
    """One way to call the command. If `older`, it replaces an older file."""

    def __init__(self, name, *options, older=False, killable=True):
        self.name = name
        self.options = list(options)
        self.older = older
        # False for several output files, which are in a named folder while they are written:
        # docs/reliability.md.
        self.killable = killable
        self.seconds = 0.0


JOBS = [
    Job("o.mp4", "--preset", "veryfast", "--subtitles", "{folder}/in.srt", "--subtitles-output", "{out}/o.srt"),
    Job("o.mp4", "--memory", "4MiB", "--preset", "veryfast", older=True),
    Job("o.mkv", "--quality", "lossless"),
    Job("o.mkv", "--memory", "4MiB", "--preset", "veryfast", "--loop", "ping-pong", older=True),
    Job("o.gif", "--fps", "10", "--width", "160"),
    Job("o.webp", "--width", "160", older=True),
    Job("%03d.png", "--width", "160", killable=False),
]


class Place:
    """Folders of one run."""

    def __init__(self, root, command, job):
        self.root, self.command, self.job = root, command, job
        self.out, self.spool = os.path.join(root, "out"), os.path.join(root, "spool")
        for folder in (self.out, self.spool):
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
        self.output = os.path.join(self.out, job.name)
        if job.older:
            shutil.copy(os.path.join(root, "older"), self.output)
        self.before = self.contents()

    def contents(self):
        """Names in both folders, with a hash of each file's content."""
        found = {}
        for folder, _, names in os.walk(self.out):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.root)] = hashlib.sha256(file.read()).hexdigest()
            if folder != self.out and not names:
                found[os.path.relpath(folder, self.root)] = "folder"
        for name in os.listdir(self.spool):
            found["spool/" + name] = "spool"
        return found

    def start(self):
        options = [text.format(folder=self.root, out=self.out) for text in self.job.options]
        return subprocess.Popen(
            [self.command, "reverse", os.path.join(self.root, "in.mkv"), self.output, "--spool-dir", self.spool,
             "--quiet", *options] + (["--overwrite"] if self.job.older else []),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_whole(self):
        """True if the output is that of a complete run: with all frames, and no other files."""
        names = set(os.listdir(self.out))
        if os.listdir(self.spool):
            return False
        if "%" in self.job.name:
            return names == {self.job.name % number for number in range(1, FRAMES + 1)}
        expected = {self.job.name} | ({"o.srt"} if "--subtitles-output" in self.job.options else set())
        if names != expected:
            return False
        report = subprocess.run(
            [self.command, "info", "--json", "--strict", self.output], capture_output=True, timeout=120)
        if report.returncode != 0:
            return False
        counts = [stream["count"] for stream in json.loads(report.stdout)["streams"] if stream["kind"] == "video"]
        return counts == [self.job.frames]


def prepare(root, command):
    """Makes the source and an older output; measures the time and frame count of each job."""
    subprocess.run(["gst-launch-1.0", "-q", *(SOURCE + os.path.join(root, "in.mkv")).split()], check=True)
    with open(os.path.join(root, "in.srt"), "w") as file:
        file.write(SUBTITLES)
    with open(os.path.join(root, "older"), "wb") as file:
        file.write(b"an older file\n" * 1000)
    for job in JOBS:
        place = Place(root, command, job)
        began = time.monotonic()
        status = place.start().wait(timeout=300)
        job.seconds = time.monotonic() - began
        if status != 0:
            sys.exit(f"{job.name} {' '.join(job.options)}: status {status} where nothing disturbs it")
        if "%" in job.name:
            continue
        report = subprocess.run([command, "info", "--json", place.output], capture_output=True, check=True)
        job.frames = next(s["count"] for s in json.loads(report.stdout)["streams"] if s["kind"] == "video")


def disturb(root, command, job, number, delay):
    """Starts the job, and sends it the signal after `delay` seconds.

    Returns the violation, or None; and True if the job ended by itself.
    """
    place = Place(root, command, job)
    process = place.start()
    try:
        process.wait(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    try:
        status = process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return f"does not end within 30 s of {number.name}", False
    if status == 0:
        return (None if place.is_whole() else f"ended with 0, and left {sorted(place.contents())}"), True
    # Until the command handles signals, one kills it like any process; shells report both alike.
    if status not in (128 + number, -number):
        return f"status {status} after {number.name}", False
    after = place.contents()
    # If the signal came at the very end, the output is complete.
    if after != place.before and not place.is_whole():
        return f"left {sorted(after)} after {number.name}", False
    return None, False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="test", required=True)
    for name, count in (("kill", 200), ("cancel", 500)):
        test = commands.add_parser(name)
        test.add_argument("--count", type=int, default=count)
        test.add_argument("--seed", type=int, default=1)
        test.add_argument("command", metavar="COMMAND")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    command = os.path.abspath(arguments.command)
    jobs = [job for job in JOBS if job.killable or arguments.test == "cancel"]
    failures, ended = 0, 0
    with tempfile.TemporaryDirectory(prefix="retrograde-faults-") as root:
        prepare(root, command)
        for run in range(arguments.count):
            job = jobs[run % len(jobs)]
            number = signal.SIGKILL if arguments.test == "kill" else chance.choice(SIGNALS)
            delay = chance.uniform(0, job.seconds * 1.1)
            wrong, by_itself = disturb(root, command, job, number, delay)
            ended += by_itself
            if wrong:
                failures += 1
                print(f"{run}: {job.name} {' '.join(job.options)} after {delay:.3f} s: {wrong}", flush=True)
    print(f"{arguments.test}: {arguments.count} runs, {ended} of them had ended by themselves, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
