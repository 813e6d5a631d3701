#!/usr/bin/python3
"""A mirror that a Slurm cluster makes in chunks has the same bytes as one that is made at home, also when a node dies.

    scripts/cluster_test.py .build/command/retrograde

A cluster of two nodes is started on this machine, in a folder of its own: munged, slurmctld, and a slurmd for each node. `retrograde work submit`
gives it a film in 12 chunks. While the first node makes one, the node is killed with all that runs on it; Slurm finds out, and begins the
chunk anew on the other one. Nothing of an installed Slurm is used but its programs, and nothing is left behind: every process
and the folder are gone at the end, whatever it is.
"""

import contextlib
import ctypes
import getpass
import json
import os
import pathlib
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time

LIMIT = 150  # seconds for all of it
CHUNKS = 12

CONFIGURATION = """
ClusterName=retrograde
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# A task that lost its node begins again when its credential has expired, and no earlier.
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
# Without cgroups, accounting and plugins that a plain machine may not have.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
# A node that does not answer for so many seconds is down.
SlurmdTimeout=5
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=all Nodes=one,two Default=YES State=UP
"""


class Processes:
    """All that was started, and all that this has started, whoever its parent is now."""

    def __init__(self):
        # Whose parent ends becomes this process's child: slurmd lets go of what it starts.
        if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
            sys.exit("cluster_test: this system has no child subreapers")

    @staticmethod
    def tree(root):
        """The processes below `root`."""
        parents = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                # The name, in brackets, may hold anything.
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        found = {root}
        while more := {process for process, parent in parents.items() if parent in found} - found:
            found |= more
        return found - {root}

    @staticmethod
    def signal(processes, number):
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def end(self):
        """Kills all of them, until none is left."""
        while left := self.tree(os.getpid()):
            self.signal(left, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)


class Cluster:
    def __init__(self, folder, processes):
        self.folder = folder
        self.processes = processes
        self.environment = os.environ | {"SLURM_CONF": f"{folder}/slurm.conf"}
        # What a user has set for their own cluster is not meant for this one.
        for name in [name for name in self.environment if re.match("SBATCH_|SLURM_(?!CONF)|SQUEUE_", name)]:
            del self.environment[name]

    def start(self):
        munge = self.folder / "munge"
        munge.mkdir(mode=0o711)
        (munge / "key").touch(mode=0o600)
        (munge / "key").write_bytes(secrets.token_bytes(128))
        (self.folder / "state").mkdir()
        for node in ["one", "two"]:
            (self.folder / f"spool-{node}").mkdir()
        with contextlib.ExitStack() as taken:
            sockets = [taken.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
            ports = [each.getsockname()[1] for each in sockets]
        host = socket.gethostname().partition(".")[0]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=self.folder, host=host, user=getpass.getuser(), ports=ports))
        self.daemon("munged", "--foreground", f"--key-file={munge}/key", f"--socket={munge}/socket",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        wait(lambda: (munge / "socket").exists(), "munged has a socket")
        self.daemon("slurmctld", "-D", "-i")
        # A node is what its slurmd has started: each has a parent of its own, which keeps what slurmd lets go of.
        for node in ["one", "two"]:
            self.daemon(sys.executable, __file__, "--node", node)
        wait(lambda: self.ask("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle"] * 2, "two nodes are idle")

    def daemon(self, *command):
        name = command[-1] if "--node" in command else command[0]
        output = open(self.folder / f"{name}.output", "wb")
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   start_new_session=True)
        output.close()
        setattr(self, name, process)

    def ask(self, *command):
        """What a program of Slurm's says; nothing, where it can't yet."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30).stdout

    def tasks(self, *options):
        """The tasks of the array that run: their numbers."""
        said = self.ask("squeue", "--noheader", "--array", "--name=retrograde-chunks", "--states=RUNNING", "--format=%K", *options)
        return [int(number) for number in said.split()]

    def kill_while_busy(self, node, work):
        """Kills a node while it makes a chunk.
        - Returns: the chunk."""
        keeper = getattr(self, node).pid
        found = []

        def is_caught():
            tasks = self.tasks(f"--nodelist={node}")
            if not tasks:
                return False
            # Held still, so that nothing happens between the look and the blow.
            self.processes.signal(self.processes.tree(keeper), signal.SIGSTOP)
            last = {}
            for line in (work / "journal").read_text().splitlines() if (work / "journal").exists() else []:
                event = json.loads(line)
                last[event.get("chunk")] = event["event"]
            found[:] = [task for task in tasks if last.get(task) == "begun"]
            if not found:
                self.processes.signal(self.processes.tree(keeper), signal.SIGCONT)
            return bool(found)

        wait(is_caught, f"node {node} makes a chunk")
        self.processes.signal(self.processes.tree(keeper) | {keeper}, signal.SIGKILL)
        return found[0]


def keep_node(name):
    """Runs as a node's slurmd's parent, and the parent of all that this lets go of, until it is killed."""
    Processes()
    subprocess.Popen(["slurmd", "-D", "-N", name], stdin=subprocess.DEVNULL)
    while True:
        with contextlib.suppress(ChildProcessError):
            os.wait()
            continue
        sys.exit(f"node {name} has ended")


def wait(is_so, what):
    """Waits until something is so; ends with an error when all time is over."""
    while not is_so():
        if time.monotonic() > wait.until:
            raise SystemExit(f"cluster_test: not within {LIMIT} s: {what}")
        time.sleep(0.1)


def run(*command, **more):
    ended = subprocess.run(command, capture_output=True, text=True, **more)
    if ended.returncode != 0:
        raise SystemExit(f"cluster_test: {' '.join(map(str, command))} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def test(retrograde, folder, processes):
    film, home, away, work = (folder / name for name in ["film.mkv", "home.mkv", "away.mkv", "work"])
    run("gst-launch-1.0", "-q", "videotestsrc", "num-buffers=720", "pattern=ball", "!",
        "video/x-raw,width=640,height=360,framerate=30/1", "!", "x264enc", "speed-preset=ultrafast", "key-int-max=30", "!",
        "h264parse", "!", "queue", "!", "matroskamux", "name=mux", "!", "filesink", f"location={film}",
        "audiotestsrc", "num-buffers=720", "samplesperbuffer=1600", "!", "audio/x-raw,rate=48000", "!", "opusenc", "!", "queue", "!",
        "mux.")
    # Slow enough to be caught at it.
    options = ["--chunks", str(CHUNKS - 1), "--preset", "slower"]
    began = time.monotonic()
    run(retrograde, "reverse", film, home, "--work", work, *options)
    print(f"at home        {time.monotonic() - began:.1f} s, {home.stat().st_size} bytes")

    cluster = Cluster(folder, processes)
    try:
        cluster.start()
        began = time.monotonic()
        said = run(retrograde, "work", "submit", film, away, "--work", work, *options, "--slurm", env=cluster.environment)
        print(said, end="")
        array, join = re.search(r"--jobs=(\d+),(\d+)", said).groups()
        assert f"{CHUNKS} tasks" in said, said
        # As docs/cluster.md has it.
        run("scontrol", "update", f"JobId={array}", "ArrayTaskThrottle=2", env=cluster.environment)
        lost = cluster.kill_while_busy("one", work)
        print(f"killed         node one, while it made chunk {lost}")
        logs = {}

        def is_over():
            for file in work.glob("slurm-*.out"):
                with contextlib.suppress(OSError):
                    logs[file.name] = file.read_text()
            state = cluster.ask("scontrol", "--oneliner", "show", "job", join)
            return re.search(r"JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)", state)

        wait(is_over, "the join has ended")
        state = is_over()[1]
        task = cluster.ask("scontrol", "--oneliner", "show", "job", f"{array}_{lost}")
        restarts, node = re.search(r"Restarts=(\d+)", task)[1], re.search(r" NodeList=(\S+)", task)[1]
        print(f"chunk {lost:<8} restarted {restarts} time on node {node}")
        print(f"on the cluster {time.monotonic() - began:.1f} s, the join {state}")
        assert state == "COMPLETED", "".join(f"\n{name}: {text}" for name, text in sorted(logs.items())) + \
            "".join(file.read_text() for file in folder.glob("work.join-*.out"))
        assert (restarts, node) == ("1", "two"), task
        assert home.read_bytes() == away.read_bytes(), "the bytes differ"
        assert not work.exists(), f"{sorted(work.iterdir())} are left in {work}"
    except BaseException:
        for file in sorted([*folder.glob("*.log"), *folder.glob("*.output")]):
            print(f"--- {file.name}\n" + "".join(file.read_text(errors="replace").splitlines(keepends=True)[-15:]), file=sys.stderr)
        raise
    print("the same bytes, and the folder for work is gone")


def main():
    if sys.argv[1:2] == ["--node"]:
        keep_node(sys.argv[2])
    retrograde = os.path.abspath(sys.argv[1])
    wait.until = time.monotonic() + LIMIT
    # sys.exit unwinds, and what is below ends all.
    for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    processes = Processes()
    with tempfile.TemporaryDirectory(prefix="retrograde-cluster-") as folder:
        # munged wants a way to its socket that is open to all.
        os.chmod(folder, 0o755)
        try:
            test(retrograde, pathlib.Path(folder), processes)
        finally:
            for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]:
                signal.signal(number, signal.SIG_IGN)
            processes.end()


if __name__ == "__main__":
    main()
