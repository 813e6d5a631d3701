#!/usr/bin/python3
"""Prints a line for each file in a folder and each way to reverse it, to compare two builds:

    fingerprints.py COMMAND FOLDER > before.tsv
    fingerprints.py OTHER FOLDER | diff before.tsv -

A line has the file, the options, the exit status, and two digests: one of all packets with their
times and of ffprobe's report on streams, chapters and tags, and one of the warnings. Dates and
random identifiers from muxers are left out. So is the file size: matroskamux writes an identifier
that begins with a zero in one byte less.
"""
import argparse, concurrent.futures, glob, hashlib, json, os, re, subprocess, tempfile

WAYS = [("o.mkv", ["--quality", "lossless"]), ("o.mp4", ["--preset", "ultrafast"]), ("o.mkv", ["--loop", "ping-pong", "--no-video"])]
PROBE = ["ffprobe", "-v", "error", "-show_streams", "-show_format", "-show_chapters", "-show_packets", "-show_data_hash", "md5", "-of", "json"]
CHANGING = re.compile(r"date|time_?stamp|creation|filename|segment_uid|encoder|^id$|^size$|^bit_rate$", re.I)


def steady(value):
    if isinstance(value, dict):
        return {key: steady(item) for key, item in value.items() if not CHANGING.search(key) or key in ("pts_time", "dts_time")}
    return [steady(item) for item in value] if isinstance(value, list) else value


def line(command, source, way):
    output, arguments = way
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, output)
        done = subprocess.run([command, "reverse", source, path, "--quiet"] + arguments, capture_output=True, text=True, timeout=600)
        found = b""
        if done.returncode == 0:
            found = json.dumps(steady(json.loads(subprocess.run(PROBE + [path], capture_output=True).stdout)), sort_keys=True).encode()
        words = done.stderr.replace(path, output)
        digests = [hashlib.sha256(part).hexdigest()[:16] for part in (found, words.encode())]
    return "\t".join([os.path.basename(source), " ".join(way[1] + [output]), str(done.returncode)] + digests)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("folder")
    parser.add_argument("--largest", type=int, default=3 << 20, help="size limit in bytes; larger files are skipped")
    parser.add_argument("--only", default="*", help="pattern of file names, such as '[m-z]*'")
    options = parser.parse_args()
    files = sorted(glob.glob(os.path.join(options.folder, options.only)))
    files = [path for path in files if os.path.isfile(path) and os.path.getsize(path) <= options.largest and not path.endswith((".tsv", ".md"))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for text in pool.map(lambda job: line(options.command, *job), [(path, way) for path in files for way in WAYS]):
            print(text, flush=True)


main()
