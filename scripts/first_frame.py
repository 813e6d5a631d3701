#!/usr/bin/python3
"""Measures how fast reversesrc starts and seeks, in seconds.

    first_frame.py [--loop LOOP] FILE...

The first time is from the state change to the first frame of video. Then a seek to the middle is
sent; the second time is from this seek to the frame there.

Each FILE is played five times, each time by a new process, like a player that was just started:
GStreamer's registry has been read, and no plugin is loaded. Prints the minimum and the median of
both times. GST_PLUGIN_PATH must contain the plugin.
"""
import argparse, os, statistics, subprocess, sys, time


def measure(path, order):
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst

    Gst.init(None)
    pipeline = Gst.parse_launch("reversesrc name=source ! video/x-raw ! fakesink name=sink signal-handoffs=true sync=false async=false")
    pipeline.get_by_name("source").set_property("uri", Gst.filename_to_uri(os.path.abspath(path)))
    Gst.util_set_object_arg(pipeline.get_by_name("source"), "loop", order)
    loop = GLib.MainLoop()
    taken = []
    middle = [None]

    def seek():
        middle[0] = pipeline.query_duration(Gst.Format.TIME)[1] // 2
        taken.append(time.monotonic())
        pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, middle[0])

    def handoff(_, buffer, __):
        if not taken:
            taken.append(time.monotonic())
            GLib.idle_add(seek)
        elif len(taken) == 2 and middle[0] - Gst.SECOND < buffer.pts < middle[0] + Gst.SECOND:
            taken.append(time.monotonic())
            loop.quit()

    def failed(_, message):
        print(message.parse_error()[0].message, file=sys.stderr)
        loop.quit()

    pipeline.get_by_name("sink").connect("handoff", handoff)
    pipeline.get_bus().add_signal_watch()
    pipeline.get_bus().connect("message::error", failed)
    start = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    if len(taken) < 3:
        sys.exit(1)
    print(taken[0] - start, taken[2] - taken[1])


parser = argparse.ArgumentParser()
parser.add_argument("files", nargs="+")
parser.add_argument("--loop", default="reverse")
parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
options = parser.parse_args()
if options.once:
    measure(options.files[0], options.loop)
else:
    for path in options.files:
        again = [sys.executable, __file__, "--once", "--loop", options.loop, path]
        runs = [map(float, subprocess.run(again, check=True, capture_output=True, text=True).stdout.split()) for _ in range(5)]
        first, sought = zip(*runs)
        print(f"{os.path.basename(path)}: {min(first):.2f}, median {statistics.median(first):.2f}; "
              f"sought {min(sought):.2f}, median {statistics.median(sought):.2f}", flush=True)
