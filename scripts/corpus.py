#!/usr/bin/python3
"""Reverses every file of a folder, losslessly and at the default quality; mirrorcheck checks each.

    corpus.py COMMAND FOLDER [--only GLOB] [--mode lossless|default|budgets]

The mode budgets reverses each file twice, in the least memory that it needs and in 4 GiB, and
compares the frames, samples and times of the two results (ffmpeg -f framecrc).

mirrorcheck is searched in FOLDER/../tools and in PATH; without it, only exit statuses are shown.
The exit status is 1 if a file fails, unless corpus-limits.tsv allows what mirrorcheck reports.
"""
import argparse, fnmatch, json, os, re, resource, shutil, subprocess, sys, tempfile, time

# Allowed failures, which docs/corpus.md explains: file pattern, mode, pattern of what mirrorcheck
# may report.
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus-limits.tsv")


def limits():
    rows = []
    if os.path.exists(LIMITS):
        for line in open(LIMITS, encoding="utf-8"):
            if line.strip() and not line.startswith("#"):
                name, mode, pattern = line.rstrip("\n").split("\t")[:3]
                rows.append((name, mode, re.compile(pattern)))
    return rows


def has_picture(path):
    out = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,codec_name:stream_disposition=attached_pic",
                          "-of", "json", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    streams = json.loads(out or b"{}").get("streams", [])
    return any(s.get("codec_type") == "video" and not s.get("disposition", {}).get("attached_pic") for s in streams)


def is_rotated(path):
    out = subprocess.run(["ffprobe", "-v", "error", "-show_streams", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    return b"rotation=" in out


SOUND = {".wav": ".wav", ".flac": ".flac", ".mp3": ".mp3", ".m4a": ".m4a", ".opus": ".opus", ".ogg": ".ogg", ".aac": ".m4a"}
PICTURE = {".mov": ".mov", ".mkv": ".mkv", ".webm": ".webm", ".avi": ".avi", ".ts": ".ts", ".ogv": ".ogv"}


def target(path, mode):
    """Extension of the output: the source's own, if that format can be written."""
    own = os.path.splitext(path)[1].lower()
    if not has_picture(path):
        return ".mka" if mode == "lossless" else SOUND.get(own, ".m4a")
    if mode == "lossless":
        return ".mov" if is_rotated(path) else ".mkv"
    return PICTURE.get(own, ".mkv" if own == ".gif" else ".mp4")


def run(command, limit=900):
    began = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        errors = process.communicate(timeout=limit)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        errors = process.communicate()[1].decode(errors="replace") + f"\nstill running after {limit} s"
    peak = 0
    match = re.search(r"Maximum resident set size \(kbytes\): (\d+)", errors)
    if match:
        peak = int(match.group(1)) // 1024
    return process.returncode, errors, time.time() - began, peak


def decoded(path):
    """One line for each frame and packet of samples, with its times and checksum."""
    return subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", "0:v?", "-map", "0:a?", "-fps_mode",
                           "passthrough", "-f", "framecrc", "-"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode(errors="replace").splitlines()


def budgets(program, path, folder):
    """Reverses a file in the least memory and in 4 GiB.

    Returns a verdict, the difference, and the time and memory of the first run.
    """
    least = os.path.join(folder, "least" + target(path, "lossless"))
    most = os.path.join(folder, "most" + target(path, "lossless"))
    command = ["/usr/bin/time", "-v", program, "reverse", "--quality", "lossless"]
    budget = "1KiB"
    for _ in range(4):
        status, errors, seconds, peak = run(command + ["--memory", budget, path, least])
        needed = re.search(r"must be at least ([\d.]+) ?([KMG]iB)", errors)
        if not needed:
            break
        budget = needed.group(1) + needed.group(2)
    other, other_errors, _, _ = run(command + ["--memory", "4GiB", path, most])
    if status != other:
        first = next((l for l in (errors + other_errors).splitlines() if l.startswith("retrograde:")), "")
        return "FAILED", f"exit {status} in {budget}, {other} in 4 GiB: {first}", seconds, peak
    if status:
        return "refused", f"exit {status} in both", seconds, peak
    few, many = decoded(least), decoded(most)
    if few == many:
        return "ok", f"{budget}: {len(many)} lines", seconds, peak
    differing = sum(a != b for a, b in zip(few, many)) + abs(len(few) - len(many))
    return "FAILED", f"{budget}: {differing} of {len(many)} lines differ from 4 GiB", seconds, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command"), parser.add_argument("folder")
    parser.add_argument("--only", default="*")
    parser.add_argument("--mode", choices=["lossless", "default", "budgets"])
    parser.add_argument("--keep", help="keep the outputs in this folder")
    options = parser.parse_args()
    checker = os.path.join(options.folder, "..", "tools", "mirrorcheck")
    checker = checker if os.path.exists(checker) else shutil.which("mirrorcheck")
    excuses = limits()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    names = sorted(n for n in os.listdir(options.folder)
                   if fnmatch.fnmatch(n, options.only) and not n.endswith(".tsv") and not n.startswith("."))
    passed = excused = failed = 0
    print(f"{'file':48} {'mode':9} {'verdict':8} {'s':>6} {'MiB':>5}  what differs")
    for name in names:
        path = os.path.join(options.folder, name)
        for mode in [options.mode] if options.mode else ["lossless", "default"]:
            if mode == "budgets":
                with tempfile.TemporaryDirectory(dir=options.keep) as folder:
                    verdict, what, seconds, peak = budgets(options.command, path, folder)
                passed += verdict != "FAILED"
                failed += verdict == "FAILED"
                print(f"{name[:48]:48} {mode:9} {verdict:8} {seconds:6.1f} {peak:5}  {what[:220]}", flush=True)
                continue
            with tempfile.TemporaryDirectory(dir=options.keep) as folder:
                output = os.path.join(options.keep or folder, name + "." + mode + target(path, mode))
                if os.path.exists(output):
                    os.unlink(output)
                command = ["/usr/bin/time", "-v", options.command, "reverse", path, output]
                command += ["--quality", "lossless"] if mode == "lossless" else []
                status, errors, seconds, peak = run(command)
                message = next((l for l in errors.splitlines() if l.startswith("retrograde:")), "")
                if name.startswith("broken_") and status in (65, 66) and not os.path.exists(output):
                    verdict, what = "refused", message
                elif status != 0:
                    verdict, what = "FAILED", f"exit {status}: {message or errors.strip().splitlines()[0] if errors.strip() else ''}"
                elif not checker:
                    verdict, what = "written", message
                else:
                    check = subprocess.run([checker] + (["--lossless"] if mode == "lossless" else []) + [path, output],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    try:
                        report = json.loads(check.stdout)
                    except ValueError:
                        report = {"error": check.stderr.decode(errors="replace").strip()[-200:]}
                    what = "; ".join(report.get("failures", [])) or report.get("error", "")
                    verdict = "ok" if check.returncode == 0 else "FAILED"
            if verdict == "FAILED":
                left = [part for part in ([what] if status else what.split("; "))
                        if not any(fnmatch.fnmatch(name, n) and m in (mode, "*") and p.search(part) for n, m, p in excuses)]
                verdict = "FAILED" if left else "limit"
            passed += verdict in ("ok", "refused", "written")
            excused += verdict == "limit"
            failed += verdict == "FAILED"
            print(f"{name[:48]:48} {mode:9} {verdict:8} {seconds:6.1f} {peak:5}  {what[:220]}", flush=True)
    print(f"corpus: {passed} passed, {failed} failed, {excused} at a limit that docs/corpus.md explains")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
