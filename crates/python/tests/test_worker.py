"""The worker of examples/python in a run of `byz coordinator`: a real broker, and gradients by PyTorch beside those by byz."""

import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WORKER = ROOT / "examples" / "python" / "worker.py"
BINARY = Path(os.environ.get("BYZ_BINARY", ROOT / "target" / "release" / "byz"))
DATA = Path(os.environ.get("BYZ_DATA", ROOT.parent / "shared" / "data"))
pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("nats", reason="nats-py is not installed")
pytest.importorskip("nkeys", reason="nkeys is not installed")
pytestmark = [
    pytest.mark.skipif(not WORKER.exists(), reason="no examples here: run the tests from the repository"),
    pytest.mark.skipif(not BINARY.exists(), reason="no byz: build it, or set BYZ_BINARY"),
    pytest.mark.skipif(shutil.which("nats-server") is None, reason="nats-server is not installed"),
    pytest.mark.skipif(not (DATA / "mnist").is_dir(), reason="no MNIST: byz data fetch, and set BYZ_DATA"),
]
CONFIG = """
task = "mnist_mlp"
workers = 4
byzantine = 0
tolerance = 1
defense = "nnm+geometric_median"
optimizer = "byz_nsgdm"
rate = 0.1
rounds = 150
evaluate_every = 150
"""


@pytest.fixture
def start(tmp_path):
    """Starts programs that are gone at the end, whatever happened."""
    with ExitStack() as stack:

        def start(name, *command):
            log = stack.enter_context(open(tmp_path / f"{name}.log", "wb"))
            # One thread each: the machine may have few.
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "BYZ_DATA": str(DATA)}
            process = subprocess.Popen([*map(str, command)], stdout=log, stderr=log, env=environment)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield start


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_two_workers_in_python_and_two_of_byz_train_one_network(tmp_path, start):
    keys, run, port = tmp_path / "keys", tmp_path / "run", free_port()
    subprocess.run([BINARY, "net", "config", "--workers", "4", "--out", keys, "--listen", f"127.0.0.1:{port}"], check=True, capture_output=True)
    section = (keys / "network.toml").read_text()
    assert 'momentum = "server"' in section
    (tmp_path / "run.toml").write_text(CONFIG + section)
    url = f"nats://127.0.0.1:{port}"
    start("broker", "nats-server", "-c", keys / "nats-server.conf")
    coordinator = start("coordinator", BINARY, "coordinator", tmp_path / "run.toml", "--nats", url, "--creds", keys / "coordinator.creds", "--out", run)
    workers = [start(f"worker-{k}", sys.executable, WORKER, url, keys / f"worker-{k}.creds", DATA / "mnist") for k in range(2)]
    workers += [start(f"worker-{k}", BINARY, "worker", "--nats", url, "--id", k, "--creds", keys / f"worker-{k}.creds") for k in range(2, 4)]
    told = lambda: "\n".join(f"{log.name}: {log.read_text()[-2000:]}" for log in sorted(tmp_path.glob("*.log")))
    assert coordinator.wait(timeout=300) == 0, told()
    # They hear that it is over, those in Python too.
    assert [worker.wait(timeout=60) for worker in workers] == [0] * 4, told()
    summary = json.loads((run / "summary.json").read_text())
    assert summary["metric"] > 70, summary
    records = [json.loads(line) for line in open(run / "rounds.jsonl")]
    rounds = [record["training"] for record in records if "training" in record]
    assert not [verdict for record in rounds for _, verdict in record.get("verdicts", []) if verdict.startswith("invalid")]
    assert sum(weight > 0 for weight in rounds[-1]["weights"]) >= 3, rounds[-1]
    assert max(rounds[-1]["weights"][:2]) > 0, rounds[-1]
