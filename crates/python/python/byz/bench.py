"""``python -m byz.bench``: this engine beside what one would use instead, in one run, on one thread.

The rows are a common mean of length one with noise of length 0.3, the last f of them minus the mean. Times are CPU milliseconds, the
median of several calls; compare ratios, not machines.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    # Before NumPy and PyTorch are loaded, which look once.
    os.environ.setdefault(_name, "1")

import argparse
import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import byz

RULE = "nnm+geometric_median(iterations=8,smoothing=0.1,start=zero)"


def milliseconds(call: Callable[[], Any], least: int = 5, budget: float = 10.0) -> float:
    """The median CPU time of a call, after one to warm up."""
    call()
    times: list[float] = []
    start = time.perf_counter()
    while not times or (len(times) < least and time.perf_counter() - start < budget):
        before = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - before))
    return sorted(times)[len(times) // 2]


def microseconds(call: Callable[[], Any], calls: int = 2000) -> float:
    """The CPU time of a short call: the best of several rounds of many."""
    call()
    rounds = []
    for _ in range(5):
        before = time.process_time()
        for _ in range(calls):
            call()
        rounds.append((time.process_time() - before) / calls)
    return 1e6 * min(rounds)


def rows(workers: int, tolerance: int, dimension: int) -> np.ndarray:
    """The messages of a round."""
    random = np.random.default_rng(0)
    mean = random.standard_normal(dimension, dtype=np.float32)
    mean /= np.linalg.norm(mean)
    noise = random.standard_normal((workers, dimension), dtype=np.float32)
    made = mean + noise * np.float32(0.3 / dimension**0.5)
    made[workers - tolerance :] = -mean
    return made


def gram_space(torch: Any, vectors: Any, f: int) -> Any:
    """Mixing and eight Weiszfeld steps as a PyTorch expert writes them: one X·Xᵀ, small matrices in float64, one c·X."""
    n = len(vectors)
    products = (vectors @ vectors.T).double()
    squares = products.diagonal()
    distances = (squares[:, None] + squares[None] - 2 * products).clamp_min(0)
    mixing = torch.zeros(n, n, dtype=torch.float64)
    mixing.scatter_(1, torch.topk(distances, n - f, largest=False, dim=1)[1], 1 / (n - f))
    mixed = mixing @ products @ mixing.T
    lengths, weights = mixed.diagonal(), torch.zeros(n, dtype=torch.float64)
    for _ in range(8):
        away = (lengths - 2 * (mixed @ weights) + weights @ mixed @ weights).clamp_min(0).sqrt().clamp_min(0.1)
        weights = (1 / away) / (1 / away).sum()
    return (mixing.T @ weights).float() @ vectors


def measure(workers: int, tolerance: int, dimension: int) -> dict[str, Any]:
    """All that can be measured with what is installed."""
    told: dict[str, Any] = {"rule": RULE, "workers": workers, "tolerance": tolerance, "dimension": dimension, "threads": 1}
    defense = byz.Defense(RULE, tolerance, threads=1)
    large, small = rows(workers, tolerance, dimension), rows(workers, tolerance, 10)
    pipeline = defense._pipeline
    told["engine_us"] = microseconds(lambda: pipeline.aggregate(small))
    if importlib.util.find_spec("torch") is None:
        told["byz_ms"] = milliseconds(lambda: defense(large))
        told["call_us"] = microseconds(lambda: defense(small))
        return told
    import torch

    torch.set_num_threads(1)
    large, small = torch.from_numpy(large), torch.from_numpy(small)
    told["byz_ms"] = milliseconds(lambda: defense(large))
    told["call_us"] = microseconds(lambda: defense(small))
    told["list_call_us"] = microseconds(lambda listed=list(small): defense(listed))
    told["gram_ms"] = milliseconds(lambda: gram_space(torch, large, tolerance))
    if importlib.util.find_spec("byzfl") is not None:
        import byzfl

        mix, median = byzfl.NNM(tolerance), byzfl.GeometricMedian(T=8)
        told["byzfl_ms"] = milliseconds(lambda: median(mix(large)), least=3)
    return told


def main() -> None:
    """Measures and tells."""
    asked = argparse.ArgumentParser(prog="python -m byz.bench", description=__doc__.splitlines()[0])
    asked.add_argument("--workers", type=int, default=20)
    asked.add_argument("--tolerance", type=int, default=3)
    asked.add_argument("--dimension", type=int, default=1_000_000)
    asked.add_argument("--json", action="store_true", help="one JSON object")
    chosen = asked.parse_args()
    # The rule is ByzFL's, which promises nothing; that is no news here.
    warnings.simplefilter("ignore", byz.NotGuaranteedWarning)
    told = measure(chosen.workers, chosen.tolerance, chosen.dimension)
    if chosen.json:
        print(json.dumps(told))
        return
    print(f"{RULE}\nn = {chosen.workers}, f = {chosen.tolerance}, d = {chosen.dimension}, float32, one thread\n")
    print(f"{'byz':<34}{told['byz_ms']:>10.1f} ms")
    for name, key in (("a PyTorch expert in Gram space", "gram_ms"), ("ByzFL", "byzfl_ms")):
        if key in told:
            print(f"{name:<34}{told[key]:>10.1f} ms{told[key] / told['byz_ms']:>9.1f} ×")
        else:
            print(f"{name:<34}{'not installed':>13}")
    print(f"\n{'a call at d = 10':<34}{told['call_us']:>10.1f} µs")
    print(f"{'of which the engine':<34}{told['engine_us']:>10.1f} µs")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
