#!/usr/bin/env python3
"""Kills runs in chunks at random moments, resumes them, and compares the outputs: `make faults`.

usage: chunk_kills.py RETROGRADE [--count 200] [--seed 1] [--source FILM]

In each round, `retrograde reverse FILM OUT --work DIR` and its child processes get SIGKILL after a
random time. The same command follows until one run ends by itself. OUT must then equal, byte for
byte, the output of a run without kills. A kill may lose only the chunks that were being made.
"""
import argparse, json, os, random, shutil, signal, subprocess, sys, tempfile, time

def film(path):
    """Makes a film of 24 s with motion, a keyframe every second, and audio."""
    subprocess.run(
        ["gst-launch-1.0", "-q", "matroskamux", "name=mux", "!", "filesink", f"location={path}",
         "videotestsrc", "pattern=ball", "num-buffers=720", "!", "video/x-raw,width=640,height=360,framerate=30/1", "!",
         "timeoverlay", "!", "x264enc", "key-int-max=30", "speed-preset=veryfast", "!", "queue", "!", "mux.",
         "audiotestsrc", "wave=ticks", "num-buffers=1125", "!", "audio/x-raw,rate=48000,channels=2", "!", "avenc_aac",
         "!", "queue", "!", "mux."], check=True)

def done(folder):
    """Chunks that are done according to the journal."""
    try:
        lines = open(f"{folder}/journal", "rb").read().split(b"\n")
    except FileNotFoundError:
        return set()
    found = set()
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event["event"] == "done":
            found.add(event["chunk"])
    return found

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source")
    parser.add_argument("--suffix", default="mkv")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    folder = tempfile.mkdtemp(prefix="retrograde-kills-")
    try:
        source = arguments.source or f"{folder}/film.mkv"
        if not arguments.source:
            film(source)
        output, work = f"{folder}/out.{arguments.suffix}", f"{folder}/work"
        command = [os.path.abspath(arguments.program), "reverse", source, output, "--quiet", "--work", work,
                   "--chunk-length", "1"]
        began = time.monotonic()
        subprocess.run(command, check=True)
        length = time.monotonic() - began
        reference = open(output, "rb").read()
        kills = ends = failures = 0
        while kills < arguments.count:
            os.unlink(output)
            before = set()
            while True:
                jobs = chance.choice(["1", "2", "3"])
                run = subprocess.Popen(command + ["--jobs", jobs], start_new_session=True, stderr=subprocess.PIPE)
                try:
                    run.wait(chance.uniform(0, length / 2))
                except subprocess.TimeoutExpired:
                    os.killpg(run.pid, signal.SIGKILL)
                    run.wait()
                    kills += 1
                    after = done(work)
                    # When the output has its name, the work folder is being removed.
                    if not before <= after and not os.path.exists(output):
                        print(f"kill {kills}: chunks {sorted(before - after)} were forgotten")
                        failures += 1
                    before = after
                    continue
                # A kill after, or almost after, the removal of the folder is too late: the run has
                # ended, and the next one finds the output in its way (73).
                if run.returncode != 0 and not (run.returncode == 73 and os.path.exists(output)):
                    print(f"after kill {kills}: status {run.returncode}: {run.stderr.read().decode()}")
                    failures += 1
                break
            if not os.path.exists(output):
                print(f"after kill {kills}: there is no file")
                failures += 1
                break
            if open(output, "rb").read() != reference:
                print(f"after kill {kills}: other bytes")
                failures += 1
            ends += 1
            left = sorted(set(os.listdir(folder)) - {os.path.basename(source), os.path.basename(output)})
            if left:
                print(f"after kill {kills}: left behind: {left}")
                failures += 1
                shutil.rmtree(work, ignore_errors=True)
        print(f"{kills} kills, {ends} runs that ended, {failures} failures")
        return failures > 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)

sys.exit(main())
