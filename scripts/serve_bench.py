#!/usr/bin/python3
"""Measures in Chromium how `retrograde serve` plays a film that it reverses meanwhile.

    serve_bench.py RETROGRADE [--work FOLDER] [--write docs/serve-operators.md]

ffmpeg makes three films of 1080p30 with AAC in FOLDER, where they are kept: one minute, the same
minute in VP9, and one hour. In a browser that has shown a film before, these are measured:

- the time from the request of the page to the first frame: for a single file, after the server has
  prepared it and when the server has just started; and for a file in a folder, which is opened on
  request;
- the time from a seek to the frame there;
- dropped frames, and the time that playback stalled;
- how fast segments are made.

For comparison, the film itself is played forwards, as a file.
"""
import argparse, http.server, json, os, platform, re, statistics, subprocess, sys, threading, time, urllib.request
from webdriver import Browser

arguments = argparse.ArgumentParser()
arguments.add_argument("retrograde")
arguments.add_argument("--work", default=".build/serve-bench")
arguments.add_argument("--write")
options = arguments.parse_args()
os.makedirs(options.work, exist_ok=True)


def film(name, *command):
    """Path of a film, which ffmpeg makes if it is missing."""
    path = os.path.join(options.work, name)
    if not os.path.exists(path):
        subprocess.run(["ffmpeg", "-v", "error", "-y", *command, "-movflags", "+faststart", path + ".part.mp4"], check=True)
        os.replace(path + ".part.mp4", path)
    return path


def minute():
    return film("minute.mp4", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30:duration=60", "-f", "lavfi", "-i", "anoisesrc=duration=60:amplitude=0.2",
                "-c:v", "libx264", "-preset", "veryfast", "-g", "120", "-pix_fmt", "yuv420p", "-c:a", "aac")


def minute_of_vp9():
    return film("vp9.mp4", "-i", minute(), "-c:a", "copy", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1", "-g", "120", "-b:v", "6M")


def hour():
    # Continuous audio, as from a camera.
    pictures = film("pictures.mp4", "-i", minute(), "-map", "0:v", "-c", "copy")
    return film("hour.mp4", "-stream_loop", "59", "-i", pictures, "-f", "lavfi", "-i", "anoisesrc=duration=3600:amplitude=0.2",
                "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac")


# Time of the first frame, since the request of the page.
WATCH = 'document.addEventListener("loadeddata", () => { window.firstPicture ??= performance.now(); }, true);'
FIRST = """
const video = document.querySelector("video");
if (video.readyState < 2) await new Promise(done => video.addEventListener("loadeddata", done, { once: true }));
return window.firstPicture;
"""
PLAY = """
const video = document.querySelector("video");
let stood = 0, since, stalls = 0;
video.addEventListener("waiting", () => { since = performance.now(); stalls++; });
video.addEventListener("playing", () => { if (since) stood += performance.now() - since; since = undefined; });
const before = video.getVideoPlaybackQuality(), from = video.currentTime;
await video.play();
await new Promise(done => setTimeout(done, 10000));
if (since) stood += performance.now() - since;
video.pause();
const after = video.getVideoPlaybackQuality();
return { played: video.currentTime - from, stalls, stood, frames: after.totalVideoFrames - before.totalVideoFrames, dropped: after.droppedVideoFrames - before.droppedVideoFrames };
"""
SEEK = """
const video = document.querySelector("video"), start = performance.now();
const shown = new Promise(done => video.addEventListener("seeked", done, { once: true }));
video.currentTime = args[0] * video.duration;
await shown;
return performance.now() - start;
"""


# Multiples of the golden ratio: positions all over a film, and anywhere in its groups of pictures.
PLACES = [number * 0.6180339887 % 1 for number in range(1, 10)]


class Server:
    """`retrograde serve` for one film or folder, with nothing cached."""

    def __init__(self, path):
        self.process = subprocess.Popen([options.retrograde, "serve", path, "--port", "0", "--quiet"], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Files:
    """Plain file server for the folder, with a page that plays a film forwards."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=options.work)

        def log_message(self, *_):
            pass

    def __enter__(self):
        with open(os.path.join(options.work, "plain.html"), "w") as page:
            page.write('<!doctype html><video src="minute.mp4" style="width: 68rem"></video>')
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files.Handler)
        # The browser disconnects when it has enough data.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/plain.html"

    def __exit__(self, *_):
        self.server.shutdown()


def shown(browser, address):
    """Milliseconds until the first frame of a page."""
    browser.go(address)
    return browser.wait(FIRST)


def watching():
    """Browser that has shown a film before, so that its start is not measured."""
    browser = Browser()
    browser.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    with Files() as address:
        shown(browser, address)
    return browser


def chosen(info):
    """Renditions that a browser plays. For a film in VP9, VP9, which is listed after H.264."""
    return {one["kind"]: one for one in info["renditions"]}


def first_segment(server):
    """Waits for the segments that the server prepares without a request."""
    home = urllib.request.urlopen(server.address).geturl()
    info = json.load(urllib.request.urlopen(home + "usual/info.json"))
    for one in chosen(info).values():
        urllib.request.urlopen(f"{home}usual/{info['version']}/{one['name']}/0.m4s").read()


def played(path):
    found = {}
    with Server(path) as server, watching() as browser:
        first_segment(server)
        found["ready"] = shown(browser, server.address)
    with watching() as browser, Server(path) as server:
        found["first"] = shown(browser, server.address)
        found.update(browser.wait(PLAY))
        found["seeks"] = [browser.wait(SEEK, place) for place in PLACES]
        # Everything needed is cached now.
        found["again"] = shown(browser, server.address)
        found["peak"] = int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{server.process.pid}/status").read()).group(1)) // 1024
    with Server(options.work) as server, watching() as browser:
        listed = urllib.request.urlopen(server.address).read().decode()
        page = re.search(r'href="(/' + os.path.basename(path).split(".")[0] + r'-[^"]*)"', listed).group(1)
        found["folder"] = shown(browser, server.address.rstrip("/") + page)
    return found


def forwards():
    with Files() as address, watching() as browser:
        return {"first": shown(browser, address), **browser.wait(PLAY)}


def speed(path):
    """Seconds of film made in a second, for a client that requests one segment after the other."""
    with Server(path) as server:
        home = urllib.request.urlopen(server.address).geturl()
        info = json.load(urllib.request.urlopen(home + "usual/info.json"))
        video = chosen(info)["video"]
        first, count = len(video["times"]) // 3, 4
        start = time.monotonic()
        for number in range(first, first + count):
            urllib.request.urlopen(f"{home}usual/{info['version']}/{video['name']}/{number}.m4s").read()
        return (video["times"][first + count] - video["times"][first]) / (time.monotonic() - start)


rows = []
for name, path in (("one minute", minute()), ("one minute of VP9, served as VP9", minute_of_vp9()), ("one hour", hour())):
    found = {**played(path), "speed": speed(path)}
    print(name, json.dumps(found), file=sys.stderr)
    seeks = sorted(found["seeks"])
    rows.append(f"| {name} | {found['ready'] / 1000:.2f} s | {found['first'] / 1000:.2f} s | {found['folder'] / 1000:.2f} s | {found['again'] / 1000:.2f} s | {statistics.median(seeks) / 1000:.2f} s, {seeks[-1] / 1000:.2f} s | "
                f"{found['played']:.1f} s, {found['dropped']} of {found['frames']} | {found['stalls']}, {found['stood'] / 1000:.1f} s | {found['speed']:.1f} | {found['peak']} MiB |")
found = forwards()
print("forwards", json.dumps(found), file=sys.stderr)
rows.append(f"| for comparison: the one-minute file, played forwards without Retrograde | {found['first'] / 1000:.2f} s | | | | | "
            f"{found['played']:.1f} s, {found['dropped']} of {found['frames']} | {found['stalls']}, {found['stood'] / 1000:.1f} s | | |")
processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
version = subprocess.run([options.retrograde, "--version"], capture_output=True, text=True).stdout.strip()
table = "\n".join([
    f"`make bench-serve`, {version}, {os.cpu_count()} cores ({processor}), shared with the browser.",
    "The browser had shown a video before. The videos are 1080p30, H.264 unless noted, with AAC audio",
    "and groups of pictures of four seconds.", "",
    "| video | first frame | requested at once | in a folder | again | seek: median, longest | played in 10 s, frames dropped | stalls | segment speed, × real time | peak memory |", "|---|---|---|---|---|---|---|---|---|---|", *rows, ""])
print(table)
if options.write:
    text = open(options.write).read()
    before, rest = text.split("<!-- measured -->\n")
    after = rest.split("<!-- end of measured -->\n")[1]
    open(options.write, "w").write(before + "<!-- measured -->\n" + table + "<!-- end of measured -->\n" + after)
