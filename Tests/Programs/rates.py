#!/usr/bin/python3
"""rates.py PLAYER FILE: plays FILE backwards through PLAYER, and seeks at many rates.

Like gst-validate's scenarios: fast forward and backward, to the end and beyond it, flushing and
not, in PAUSED and in PLAYING. Each flushing seek must end with ASYNC_DONE, and each segment with EOS.
"""
import os, random, sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst

Gst.init(None)
player = Gst.ElementFactory.make(sys.argv[1], None)
player.set_property("uri", "reverse+file://" + os.path.abspath(sys.argv[2]))
for kind in ("video-sink", "audio-sink"):
    sink = Gst.ElementFactory.make("fakesink", None)
    sink.set_property("sync", True)
    player.set_property(kind, sink)
bus = player.get_bus()
FLUSH = Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE


def fail(text):
    print(text, flush=True)
    os._exit(1)


def wait(kind, what):
    message = bus.timed_pop_filtered(30 * Gst.SECOND, kind | Gst.MessageType.ERROR)
    if not message:
        fail(f"{what}: {kind} never came")
    if message.type == Gst.MessageType.ERROR:
        fail(f"{what}: {message.parse_error()}")


def seek(rate, start, stop, flags=FLUSH):
    """Plays from start to stop (None: the end), or from stop to start if the rate is negative."""
    if not player.seek(rate, Gst.Format.TIME, flags, Gst.SeekType.SET, start, Gst.SeekType.SET,
                       -1 if stop is None else stop):
        fail(f"seek to {start}, {stop} at {rate} was refused")


player.set_state(Gst.State.PAUSED)
wait(Gst.MessageType.ASYNC_DONE, "preroll")
duration = player.query_duration(Gst.Format.TIME)[1]

# A seek without a flush in PAUSED must return, although nothing flows before PLAYING.
for rate in (2.0, -1.0, 8.0):
    seek(rate, 0, duration, Gst.SeekFlags.ACCURATE)
player.set_state(Gst.State.PLAYING)
wait(Gst.MessageType.EOS, "seeks without a flush, in PAUSED")

for start, stop, rate in [(duration, None, 1.0), (0, duration, -32.0), (2 * duration, None, 2.0), (0, 0, -1.0),
                          (duration // 2, None, 4.0), (0, 2 * duration, -16.0), (0, 0, 1.0), (0, None, 32.0)]:
    seek(rate, start, stop)
    what = f"{start} to {stop} at {rate}"
    wait(Gst.MessageType.ASYNC_DONE, what)
    wait(Gst.MessageType.EOS, what)

seek(1.0, 0, duration // 4)
wait(Gst.MessageType.ASYNC_DONE, "the start again")
if player.seek(1.0, Gst.Format.TIME, FLUSH, Gst.SeekType.SET, duration // 2, Gst.SeekType.NONE, -1):
    fail("a seek to a place behind the stop was taken")
dice = random.Random(1)
for number in range(100):
    rate = dice.choice([1.0, 2.0, 4.0, 16.0, -1.0, -2.0, -4.0, -16.0])
    place = dice.randrange(1, duration)
    flags = FLUSH if dice.random() < 0.7 else Gst.SeekFlags.ACCURATE
    seek(rate, place if rate > 0 else 0, duration if rate > 0 else place, flags)
seek(16.0, 0, None)
wait(Gst.MessageType.EOS, "a storm of seeks")
player.set_state(Gst.State.NULL)
print("all came")
