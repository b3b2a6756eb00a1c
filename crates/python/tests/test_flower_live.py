"""Flower for real, with the app under examples/flower: SuperLink and SuperNodes as processes, and the simulation engine.

One client sends NaN, one another shape, one crashes, one flips signs, two are honest. Where there are processes, that of the client that
crashes is killed after the first round.
"""

import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

pytest.importorskip("flwr", reason="flwr is not installed")
APP = Path(__file__).parents[3] / "examples" / "flower"
pytestmark = [
    pytest.mark.skipif(not APP.exists(), reason="no examples here: run the tests from the repository"),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc, to end all that Flower starts"),
]

# Two are found to be invalid and one is missing: three are left, one of them a liar.
NODES = 6
SECONDS_TO_START, SECONDS_TO_RUN = 180, 600
RUN = f'nodes={NODES} quorum=5 deadline=120.0 misbehave="0:nan 1:wrong-shape 2:crash 3:sign-flip"'
LINE = re.compile(r"^ *(?P<node>\d+) +(?P<weight>\d\.\d+) +(?P<verdicts>(?:used|not used|missing|invalid).*)$", re.MULTILINE)


class Flower:
    """Flower's programs with a home of their own; all of them are gone at the end, whatever happened."""

    def __init__(self, home):
        self.home = home
        # Sockets of Ray lie here, whose paths must be short.
        self.short = tempfile.mkdtemp(prefix="byz-")
        self.port = free_port()
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "FLWR_HOME": str(home),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_TMPDIR": self.short,
        }
        self.programs = {}
        (home / "config.toml").write_text(f'[superlink.loopback]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end = time.monotonic() + 30
        while (processes := self.ours()) and time.monotonic() < end:
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.2)
        for program in self.programs.values():
            program.wait()
        shutil.rmtree(self.short, ignore_errors=True)

    def start(self, name, *command):
        with open(self.home / f"{name}.log", "wb") as output:
            self.programs[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=self.environment
            )

    def start_superlink(self, *options):
        options = ("--insecure", "--disable-runtime-dependency-installation", f"--port={self.port}", *options)
        self.start("superlink", "flower-superlink", *options)
        self.until(SECONDS_TO_START, "superlink", self.answers)

    def start_run(self, *options):
        self.start("run", "flwr", "run", str(APP), "loopback", "--stream", *options)

    def answers(self):
        try:
            return urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1).status == 200
        except OSError:
            return False

    def until(self, seconds, name, happened):
        """Waits for something that this program does."""
        end = time.monotonic() + seconds
        while not (result := happened()):
            assert self.programs[name].poll() is None, f"{name} has ended\n{self.logs(name)}"
            assert time.monotonic() < end, f"nothing from {name} within {seconds} s\n{self.logs(name)}"
            time.sleep(0.2)
        return result

    def finished(self):
        """What a run printed, once it has ended."""
        try:
            status = self.programs["run"].wait(SECONDS_TO_RUN)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the run did not end within {SECONDS_TO_RUN} s\n{self.logs()}")
        assert status == 0, self.logs()
        return self.log("run")

    def log(self, name):
        return (self.home / f"{name}.log").read_text(errors="replace")

    def logs(self, *names):
        """The ends of the logs."""
        return "\n".join(f"{name}:\n{self.log(name)[-6000:]}" for name in names or self.programs)

    def ours(self):
        """The processes with this home; those that a program started among them."""
        mark = f"FLWR_HOME={self.home}".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
            except OSError:
                continue
        return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def told(log):
    """The table at the end of a run: weight and verdicts per node; and the last accuracy."""
    table = {int(line["node"]): (float(line["weight"]), line["verdicts"]) for line in LINE.finditer(log)}
    accuracies = re.findall(r"accuracy after round \d+: (\d\.\d+)", log)
    assert table and accuracies, log[-6000:]
    return table, float(accuracies[-1])


@pytest.fixture
def flower(tmp_path):
    with Flower(tmp_path) as flower:
        yield flower


def test_processes_on_loopback_learn_and_tell_who_was_dropped(flower):
    flower.start_superlink()
    for partition in range(NODES):
        flower.start(
            f"node{partition}",
            *("flower-supernode", "--insecure", f"--superlink=127.0.0.1:{flower.port}", f"--port={free_port()}"),
            f"--node-config=partition-id={partition} num-partitions={NODES}",
        )
    nodes = []
    for partition in range(NODES):
        name = f"node{partition}"
        named = flower.until(SECONDS_TO_START, name, lambda: re.search(r"SuperNode ID: (\d+)", flower.log(name)))  # noqa: B023
        nodes.append(int(named[1]))
    flower.start_run("--run-config", f"{RUN} rounds=3")
    flower.until(SECONDS_TO_RUN, "run", lambda: "round 1: " in flower.log("run"))
    flower.programs["node2"].kill()
    table, accuracy = told(flower.finished())
    if any("task-token authentication failed" in flower.log(f"node{partition}") for partition in range(NODES)):
        pytest.skip("this machine is too busy: Flower gives a client 30 s to start, and one took longer")
    context = f"{table}\n{flower.logs()}"
    every = "(round 1, 2, 3)"
    assert table[nodes[0]] == (0, f"invalid: array 'weights' has NaN {every}"), context
    assert table[nodes[1]] == (0, f"invalid: array 'weights' is of shape (19, 5), expected (20, 5) {every}"), context
    assert table[nodes[2]][1].startswith("missing: RuntimeError: this client crashes on purpose (round 1); missing: "), context
    assert table[nodes[3]][0] < 0.05 and table[nodes[3]][1] == f"used {every}", context
    assert table[nodes[4]][1] == table[nodes[5]][1] == f"used {every}", context
    assert accuracy > 0.85, context


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed: pip install 'flwr[simulation]'")
def test_the_simulation_learns_and_tells_who_was_dropped(flower):
    flower.start_superlink("--simulation")
    settings = f"num-supernodes={NODES} client-resources-num-cpus=1"
    flower.start_run("--federation-config", settings, "--run-config", f'{RUN} rounds=3 strategy="nsgdm"')
    table, accuracy = told(flower.finished())
    context = f"{table}\n{flower.logs('run')}"
    every = "(round 1, 2, 3)"
    verdicts = sorted(verdicts.removesuffix(f" {every}") for _, verdicts in table.values())
    assert verdicts[:2] == ["invalid: array 'weights' has NaN", "invalid: array 'weights' is of shape (19, 5), expected (20, 5)"], context
    assert verdicts[2].startswith("missing: ") and verdicts[2].endswith("this client crashes on purpose"), context
    assert verdicts[3:] == ["used"] * 3, context
    used = sorted(weight for weight, verdict in table.values() if verdict.startswith("used"))
    assert used[0] < 0.05 < used[1], context
    assert accuracy > 0.85, context
