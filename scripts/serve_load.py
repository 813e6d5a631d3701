#!/usr/bin/python3
"""Lets many clients seek at random on `retrograde serve`, and checks the server afterwards.

    serve_load.py RETROGRADE FILM [--clients 200] [--seconds 60] [--cache 64MiB]

Clients request segments, thumbnails and playlists at random. They drop every third request before
its response, read slowly, request byte ranges, and send invalid requests. Afterwards, without
requests, the server must be idle and respond. It must have as many descriptors and threads as
before, and no more memory than its limits explain. Differences are printed, and the exit status is
1.
"""
import argparse, http.client, json, os, random, signal, socket, subprocess, sys, threading, time

arguments = argparse.ArgumentParser()
arguments.add_argument("retrograde")
arguments.add_argument("film")
arguments.add_argument("--clients", type=int, default=200)
arguments.add_argument("--seconds", type=float, default=60)
arguments.add_argument("--cache", default="64MiB")
options = arguments.parse_args()

server = subprocess.Popen([options.retrograde, "serve", options.film, "--port", "0", "--quiet", "--cache", options.cache], stdout=subprocess.PIPE, text=True)
address = server.stdout.readline().strip()
if not address:
    sys.exit("the server does not start")
host, port = address.split("/")[2].split(":")


def ask(path, headers={}):
    connection = http.client.HTTPConnection(host, int(port), timeout=120)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer
    finally:
        connection.close()


def state():
    """Descriptors, threads, current and peak memory in MiB, and seconds of processor time."""
    folder = f"/proc/{server.pid}"
    status = dict(line.split(":", 1) for line in open(f"{folder}/status").read().splitlines())
    times = open(f"{folder}/stat").read().rsplit(")", 1)[1].split()
    return {"descriptors": len(os.listdir(f"{folder}/fd")), "threads": int(status["Threads"]), "memory": int(status["VmRSS"].split()[0]) // 1024,
            "peak": int(status["VmHWM"].split()[0]) // 1024, "processor": sum(map(int, times[11:13])) / os.sysconf("SC_CLK_TCK")}


home = ask("/")[2].getheader("Location")
info = json.loads(ask(home + "usual/info.json")[1])
base = f"{home}usual/{info['version']}/"
paths = [f"{base}{one['name']}/{number}.m4s" for one in info["renditions"] for number in range(len(one["times"]) - 1)]
paths += [f"{base}{one['name']}/{name}" for one in info["renditions"] for name in ("init.mp4", "media.m3u8")]
paths += [f"{base}pictures/{random.randrange(int(info['duration'] * 1000))}.jpg" for _ in range(50)] + [home + "master.m3u8", base + "frames.bin"]

counts, lock = {}, threading.Lock()


def count(what):
    with lock:
        counts[what] = counts.get(what, 0) + 1


def client(number, until):
    chance = random.Random(number)
    while time.monotonic() < until:
        path, kind = chance.choice(paths), chance.randrange(12)
        try:
            if kind < 4:  # dropped
                connection = socket.create_connection((host, int(port)), timeout=60)
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                time.sleep(chance.random())
                connection.close()
                count("dropped")
            elif kind == 4:  # reads one byte, then stalls
                connection = socket.create_connection((host, int(port)), timeout=60)
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                connection.recv(1)
                time.sleep(chance.random() * 5)
                connection.close()
                count("slow")
            elif kind == 5:
                connection = socket.create_connection((host, int(port)), timeout=60)
                connection.sendall(bytes(chance.randrange(256) for _ in range(200)))
                connection.close()
                count("nonsense")
            else:
                status, _, _ = ask(path, {"Range": f"bytes={chance.randrange(2000)}-"} if kind == 6 else {})
                count(status)
                if status == 503:
                    time.sleep(1)
        except OSError as error:
            count(type(error).__name__)


def quiet():
    """Waits until the server is idle, and returns its state."""
    before = state()
    for _ in range(120):
        time.sleep(1)
        now = state()
        if now["processor"] - before["processor"] < 0.03 and now["descriptors"] == before["descriptors"]:
            return now
        before = now
    sys.exit(f"the server never came to rest: {before}")


def load(seconds):
    """Runs all clients, and returns the maximum of each value of the state."""
    until = time.monotonic() + seconds
    clients = [threading.Thread(target=client, args=(number, until), daemon=True) for number in range(options.clients)]
    for one in clients:
        one.start()
    most = {}
    while time.monotonic() < until:
        for name, value in state().items():
            most[name] = max(most.get(name, 0), value)
        time.sleep(0.5)
    for one in clients:
        one.join(150)
    return most


def rest():
    """State of the idle server, after a request that makes the kept decoder the same each time."""
    ask(f"{base}pictures/{random.randrange(int(info['duration'] * 1000))}.jpg")
    return quiet()


# Warm up first: plugins are loaded once, and caches such as that of audio fill up to their limits.
load(5)
start = rest()
counts.clear()
most = load(options.seconds)
end = rest()
print("answered:", ", ".join(f"{name}: {number}" for name, number in sorted(counts.items(), key=str)))
for name, value in (("before", start), ("at the most", most), ("after", end)):
    print(f"{name}:", ", ".join(f"{number} {what}" for what, number in value.items()))
faults = []
if end["descriptors"] > start["descriptors"]:
    faults.append("descriptors are left open")
if end["threads"] > start["threads"] + 4:
    faults.append("threads are left")
if end["memory"] > start["memory"] + 300:
    faults.append("memory is left")
if any(isinstance(what, int) and what not in (200, 206, 416, 503) for what in counts):
    faults.append("something failed")
if ask(paths[0])[0] != 200:
    faults.append("it no longer answers")
server.send_signal(signal.SIGINT)
if server.wait(5) != 0:
    faults.append(f"it ended with {server.returncode}")
sys.exit("; ".join(faults) if faults else 0)
