#!/usr/bin/python3
"""seeks.py FILE: plays FILE backwards through playbin, and seeks 250 times.

Prints the growth of memory over the last 200 seeks in KiB. Checks what an application sees:
positions, the duration, and that every seek ends.
"""
import os, sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst

Gst.init(None)
player = Gst.ElementFactory.make("playbin", None)
player.set_property("uri", "reverse+file://" + os.path.abspath(sys.argv[1]))
for kind in ("video-sink", "audio-sink"):
    sink = Gst.ElementFactory.make("fakesink", None)
    sink.set_property("sync", True)
    player.set_property(kind, sink)


def settle(state):
    player.set_state(state)
    change, _, _ = player.get_state(30 * Gst.SECOND)
    if change != Gst.StateChangeReturn.SUCCESS:
        message = player.get_bus().pop_filtered(Gst.MessageType.ERROR)
        sys.exit(f"no {state}: {message.parse_error() if message else change}")


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


settle(Gst.State.PAUSED)
known, duration = player.query_duration(Gst.Format.TIME)
assert known and duration > 0, "no duration"
for number in range(250):
    if number == 50:
        before = resident()
    place = duration * (number * 37 % 100) // 101
    if not player.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, place):
        sys.exit(f"seek {number} was refused")
    settle(Gst.State.PAUSED)
    known, position = player.query_position(Gst.Format.TIME)
    assert known and abs(position - place) < Gst.SECOND // 10, (number, place, position)
print(resident() - before)
player.set_state(Gst.State.NULL)
