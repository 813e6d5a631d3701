#!/usr/bin/python3
"""Tests that a Slurm cluster makes the same bytes as a local run, even if a node dies.

    scripts/cluster_test.py .build/command/retrograde

The test starts a cluster of two nodes on this machine, in a temporary folder: munged, slurmctld,
and a slurmd for each node. `retrograde work submit` gives the cluster a film in 12 chunks. While the
first node makes a chunk, the node is killed with all its processes. Slurm notices, and restarts the
chunk on the other node. Only the programs of an installed Slurm are used, not its configuration. At
the end, also after an error, all processes and the folder are removed.
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

LIMIT = 150  # seconds, for the whole test
CHUNKS = 12

CONFIGURATION = """
ClusterName=retrograde
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# A task that lost its node is restarted only when its credential has expired.
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
# No cgroups, accounting or plugins that a machine may lack.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
# Seconds without an answer after which a node counts as down.
SlurmdTimeout=5
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=all Nodes=one,two Default=YES State=UP
"""


class Processes:
    """Processes that this test started, directly or indirectly, even if their parent has ended."""

    def __init__(self):
        # Processes whose parent ends become children of this one: slurmd detaches what it starts.
        if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
            sys.exit("cluster_test: this system has no child subreapers")

    @staticmethod
    def tree(root):
        """Descendants of the process `root`."""
        parents = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                # The process name, in brackets, may contain anything.
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
        """Kills all descendants, until none is left."""
        while left := self.tree(os.getpid()):
            self.signal(left, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)


class Cluster:
    def __init__(self, folder, processes):
        self.folder = folder
        self.processes = processes
        self.environment = os.environ | {"SLURM_CONF": f"{folder}/slurm.conf"}
        # Ignore the user's settings for another cluster.
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
        # Each slurmd has a separate parent, which adopts the processes that slurmd detaches. So
        # killing the descendants of this parent kills the node.
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
        """Output of a Slurm program; empty if it fails because the cluster is not ready."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30).stdout

    def tasks(self, *options):
        """Numbers of the running tasks of the array."""
        said = self.ask("squeue", "--noheader", "--array", "--name=retrograde-chunks", "--states=RUNNING", "--format=%K", *options)
        return [int(number) for number in said.split()]

    def kill_while_busy(self, node, work):
        """Kills a node while it makes a chunk. Returns the number of the chunk."""
        keeper = getattr(self, node).pid
        found = []

        def is_caught():
            tasks = self.tasks(f"--nodelist={node}")
            if not tasks:
                return False
            # Stop the node, so that nothing changes between this check and the kill.
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
    """Runs as the parent of a node's slurmd and of the processes that slurmd detaches."""
    Processes()
    subprocess.Popen(["slurmd", "-D", "-N", name], stdin=subprocess.DEVNULL)
    while True:
        with contextlib.suppress(ChildProcessError):
            os.wait()
            continue
        sys.exit(f"node {name} has ended")


def wait(is_so, what):
    """Waits until a condition holds; ends with an error at the time limit."""
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
    # Slow enough for the node to be killed meanwhile.
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
        # This command is in docs/cluster.md.
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
    # sys.exit unwinds the stack, so that the `finally` below ends all processes.
    for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    processes = Processes()
    with tempfile.TemporaryDirectory(prefix="retrograde-cluster-") as folder:
        # munged requires that all users can reach its socket.
        os.chmod(folder, 0o755)
        try:
            test(retrograde, pathlib.Path(folder), processes)
        finally:
            for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]:
                signal.signal(number, signal.SIG_IGN)
            processes.end()


if __name__ == "__main__":
    main()
