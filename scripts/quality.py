#!/usr/bin/python3
"""quality.py COMMAND FOLDER: the default quality's SSIM and size over a folder, as a Markdown table.

The output is turned back with ffmpeg's reverse filter and compared with the source frame by frame.
"""
import os, re, subprocess, sys, tempfile

command, folder = sys.argv[1:3]
PICTURE = {".mov": ".mov", ".mkv": ".mkv", ".webm": ".webm", ".avi": ".avi", ".ts": ".ts", ".ogv": ".ogv"}
print("| file | bytes, source | bytes, mirror | ratio | SSIM |\n|---|---|---|---|---|")
for name in sorted(os.listdir(folder)):
    path = os.path.join(folder, name)
    if name.startswith(("broken_", "long_")) or os.path.getsize(path) > 8 << 20:
        continue
    probe = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=codec_name", "-of",
                            "csv=p=0", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    if not probe or probe == b"gif":
        continue
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "out" + PICTURE.get(os.path.splitext(name)[1].lower(), ".mp4"))
        if subprocess.run([command, "reverse", path, output, "--quiet"], stderr=subprocess.DEVNULL).returncode:
            continue
        graph = "[0:v]setpts=N/25/TB[a];[1:v]reverse,setpts=N/25/TB[b];[b][a]ssim"
        log = subprocess.run(["ffmpeg", "-v", "info", "-nostdin", "-noautorotate", "-i", path, "-noautorotate", "-i", output,
                              "-filter_complex", graph, "-fps_mode", "passthrough", "-f", "null", "-"],
                             stderr=subprocess.PIPE).stderr.decode(errors="replace")
        match = re.findall(r"All:([0-9.]+)", log)
        before, after = os.path.getsize(path), os.path.getsize(output)
        print(f"| {name} | {before} | {after} | {after / before:.2f} | {match[-1] if match else '–'} |", flush=True)
