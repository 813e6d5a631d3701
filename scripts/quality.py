#!/usr/bin/python3
"""Measures quality, size and time on the files of a folder, and prints them as Markdown.

    quality.py defaults COMMAND FOLDER    SSIM and size at the default quality, a row for each file
    quality.py curves COMMAND FOLDER      time, size and SSIM, a row for each speed of each encoder

Sources/Retrograde/Encode/EncoderSpeed.swift chooses the default speeds by these curves. ffmpeg's
reverse filter reverses each result again, and it is compared with the source frame by frame.
"""
import argparse, fnmatch, json, os, re, resource, statistics, subprocess, sys, tempfile

PICTURE = {".mov": ".mov", ".mkv": ".mkv", ".webm": ".webm", ".avi": ".avi", ".ts": ".ts", ".ogv": ".ogv"}
# From slow to fast. "default" is the speed without --preset, if it is not one of the encoder's own.
SPEEDS = {
    "h264": ["medium", "fast", "faster", "veryfast", "default", "superfast", "ultrafast"],
    "h265": ["medium", "fast", "veryfast", "superfast", "ultrafast"],
    "vp9": ["4", "5", "6", "7", "8", "9"],
    "vp8": ["4", "6", "8", "10", "12", "16"],
    "av1": ["6", "7", "8", "9", "10"],
}
SECONDS = 2  # of each clip, for the curves
HEADROOM = 1.25  # EncoderSettings.headroom


def video(path):
    """First video stream, as reported by ffprobe; None if there is none."""
    out = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                          "stream=codec_name,width,height,nb_read_packets,pix_fmt,field_order:format=duration",
                          "-count_packets", "-of", "json", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found = json.loads(out or b"{}")
    return found["streams"][0] | {"duration": found["format"].get("duration", 0)} if found.get("streams") else None


def files(folder, only):
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.startswith(("broken_", "long_")) or os.path.getsize(path) > 8 << 20 or not fnmatch.fnmatch(name, only):
            continue
        stream = video(path)
        if stream and stream["codec_name"] != "gif":
            yield name, path, stream


def reverse(command, path, output, *options):
    """Reverses a file. Returns the seconds of processor time; None if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if subprocess.run([command, "reverse", path, output, "--quiet", "-y", *options], stderr=subprocess.DEVNULL).returncode:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ssim(path, output, *cut):
    graph = "[0:v]setpts=N/25/TB[a];[1:v]reverse,setpts=N/25/TB[b];[b][a]ssim"
    log = subprocess.run(["ffmpeg", "-v", "info", "-nostdin", *cut, "-noautorotate", "-i", path, "-noautorotate", "-i", output,
                          "-filter_complex", graph, "-fps_mode", "passthrough", "-f", "null", "-"],
                         stderr=subprocess.PIPE).stderr.decode(errors="replace")
    match = re.findall(r"All:([0-9.]+)", log)
    return float(match[-1]) if match else None


def defaults(command, folder, only):
    print("| file | bytes of the source | bytes of the reversal | ratio | SSIM |\n|---|---|---|---|---|")
    for name, path, _ in files(folder, only):
        with tempfile.TemporaryDirectory() as scratch:
            output = os.path.join(scratch, "out" + PICTURE.get(os.path.splitext(name)[1].lower(), ".mp4"))
            if reverse(command, path, output) is None:
                continue
            likeness = ssim(path, output)
            before, after = os.path.getsize(path), os.path.getsize(output)
            print(f"| {name} | {before} | {after} | {after / before:.2f} | {likeness or '–'} |", flush=True)


def curves(command, folder, only):
    clips = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, path, stream in files(folder, only):
            if (stream["codec_name"] not in ("h264", "hevc", "vp9", "mpeg2video") or stream.get("pix_fmt") != "yuv420p"
                    or stream.get("field_order", "progressive") != "progressive"
                    or stream["width"] * stream["height"] < 640 * 360 or int(stream.get("nb_read_packets", 0)) < 90):
                continue
            kilobits = int(os.path.getsize(path) * 8 / 1000 / max(float(stream["duration"]), 0.1) * HEADROOM)
            frames = int(stream["nb_read_packets"]) / max(float(stream["duration"]), 0.1)
            # At a lower rate, the clip is almost a still image.
            if kilobits * 1000 < 0.02 * stream["width"] * stream["height"] * frames:
                continue
            # Two seconds, decoded: so the time is the encoder's, and the rate is known.
            clip = os.path.join(scratch, name + ".mkv")
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-noautorotate", "-i", path, "-map", "0:v:0", "-t",
                            str(SECONDS), "-fps_mode", "passthrough", "-c:v", "rawvideo", clip], check=True)
            clips.append((name, clip, kilobits))
        print(f"{len(clips)} clips of {SECONDS} s: " + ", ".join(name for name, _, _ in clips) + "\n")
        print("| codec | speed | time | bytes | SSIM |\n|---|---|---|---|---|")
        reference = None
        for codec, speeds in SPEEDS.items():
            for speed in speeds:
                rows = []
                for name, clip, kilobits in clips:
                    output = os.path.join(scratch, "out.mkv" if codec != "av1" else "out.mp4")
                    preset = ["--preset", speed] if speed != "default" else []
                    seconds = reverse(command, clip, output, "--video-codec", codec, *preset, "--bitrate", f"{kilobits}k")
                    if seconds is None:
                        print(f"{name}: {codec} {speed} failed", file=sys.stderr)
                        continue
                    rows.append((seconds, os.path.getsize(output) / (kilobits * 125 * SECONDS), ssim(clip, output)))
                if not rows:
                    continue
                if reference is None:
                    reference = [row[0] for row in rows]
                time = statistics.median(row[0] / first for row, first in zip(rows, reference))
                print(f"| {codec} | {speed} | {time:.2f} | {statistics.mean(row[1] for row in rows):.2f} | "
                      f"{statistics.mean(row[2] for row in rows):.4f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["defaults", "curves"])
    parser.add_argument("command"), parser.add_argument("folder")
    parser.add_argument("--only", default="*", help="pattern of file names")
    options = parser.parse_args()
    {"defaults": defaults, "curves": curves}[options.what](options.command, options.folder, options.only)


if __name__ == "__main__":
    main()
