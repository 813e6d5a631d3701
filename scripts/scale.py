#!/usr/bin/env python3
"""Models the time to reverse a film in chunks with 1 to 1,000 workers, for docs/scale.md.

usage: scale.py STATUS.json --split S --join S [--hours H] [--bandwidth MB/s] [--rate Mbit/s]
                [--write SVG]

Prints the table for docs/scale.md, and with --write draws docs/scale.svg. STATUS.json is the output
of `retrograde work status DIR --json` after one worker made all chunks. --split and --join are the
seconds that planning and joining take for each hour of film.

In the model, one worker plans and joins. In between, each worker that is free takes the next chunk,
in the order of the plan. Reading the source takes at least its size divided by the bandwidth of the
shared storage.
"""
import argparse, heapq, json

def finish(seconds, workers):
    """Time at which the last chunk is done, if each free worker takes the next chunk."""
    free = [0.0] * min(workers, len(seconds))
    for length in seconds:
        heapq.heappush(free, heapq.heappop(free) + length)
    return max(free)

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("status")
    parser.add_argument("--split", type=float, required=True, help="seconds for each hour of film")
    parser.add_argument("--join", type=float, required=True, help="seconds for each hour of film")
    parser.add_argument("--hours", type=float, default=10, help="length of the modelled film")
    parser.add_argument("--bandwidth", type=float, default=100, help="bandwidth of the shared storage, in MB/s")
    parser.add_argument("--rate", type=float, default=8, help="bit rate of the source, in Mbit/s")
    parser.add_argument("--write", help="SVG file to write")
    arguments = parser.parse_args()
    chunks = [chunk for chunk in json.load(open(arguments.status))["chunks"] if chunk["kind"] == "video"]
    measured = [chunk["seconds"] for chunk in chunks]
    length = sum(chunk["end"] - chunk["start"] for chunk in chunks)
    count = round(arguments.hours * 3600 / (length / len(chunks)))
    seconds = [measured[number % len(measured)] for number in range(count)]
    alone = (arguments.split + arguments.join) * arguments.hours
    reading = arguments.hours * 3600 * arguments.rate / 8 / arguments.bandwidth
    print(f"{count} chunks of {length / len(chunks):.0f} s, {min(measured):.1f} to {max(measured):.1f} s each; "
          f"planning and joining {alone:.0f} s; reading at least {reading:.0f} s")
    workers = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    times = [alone + max(finish(seconds, number), reading) for number in workers]
    print("| workers | time | times as fast as one | bound by |\n|---|---|---|---|")
    for number, time in zip(workers, times):
        ends = finish(seconds, number)
        bound = max((ends, "encoding" if number < count else "the slowest chunk"), (reading, "the storage"),
                    (alone, "planning and joining"))[1]
        print(f"| {number} | {time / 60:.1f} min | {times[0] / time:.0f} | {bound} |")
    if arguments.write:
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = "retrograde"
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(figsize=(7, 4))
        every = sorted({round(10 ** (step / 20)) for step in range(61)})
        axes.loglog(every, [(alone + max(finish(seconds, number), reading)) / 60 for number in every], label="in all")
        axes.loglog(every, [finish(seconds, number) / 60 for number in every], "--", label="chunks")
        axes.axhline(alone / 60, color="grey", linestyle=":", label="planning and joining")
        axes.axhline(reading / 60, color="brown", linestyle="-.", label=f"reading at {arguments.bandwidth:.0f} MB/s")
        axes.set_xlabel("workers")
        axes.set_ylabel("minutes")
        axes.legend()
        axes.grid(True, which="both", alpha=0.2)
        figure.tight_layout()
        figure.savefig(arguments.write, metadata={"Date": None})

main()
