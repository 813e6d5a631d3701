#!/usr/bin/python3
"""first_frame.py FILE...: how long reversesrc takes from the change of state to its first frame of video, in seconds.

Each FILE is played five times, each time by a new process, as a player does that was just started: GStreamer's registry has been
read by then, and no plugin is loaded. Prints the least and the median. GST_PLUGIN_PATH says where the plugin is.
"""
import os, statistics, subprocess, sys, time


def measure(path):
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst

    Gst.init(None)
    pipeline = Gst.parse_launch("reversesrc name=source ! video/x-raw ! fakesink name=sink signal-handoffs=true sync=false async=false")
    pipeline.get_by_name("source").set_property("uri", Gst.filename_to_uri(os.path.abspath(path)))
    loop = GLib.MainLoop()
    taken = []

    def handoff(*_):
        if not taken:
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
    if not taken:
        sys.exit(1)
    print(taken[0] - start)


if sys.argv[1:2] == ["--once"]:
    measure(sys.argv[2])
else:
    for path in sys.argv[1:]:
        runs = [
            float(subprocess.run([sys.executable, __file__, "--once", path], check=True, capture_output=True, text=True).stdout)
            for _ in range(5)
        ]
        print(f"{os.path.basename(path)}: {min(runs):.2f}, median {statistics.median(runs):.2f}")
