"""A tour of byz in cells; what it prints is in tour.txt. Needs NumPy, and PyTorch for the last cell."""

# %% Ten workers measure the same vector. Three of them lie: one sends NaN, one a huge number, one the opposite.
import numpy as np

import byz
import byz.compat.byzfl as byzfl

random = np.random.default_rng(1)
truth = np.array([1.0, -2.0, 3.0, 0.5])
rows = truth + 0.1 * random.normal(size=(10, 4))
rows[7:] = np.stack([np.full(4, np.nan), np.full(4, 1e30), -truth])

print("the mean:    ", rows.mean(axis=0))
print("the defence: ", byz.aggregate(rows, "nnm+geometric_median", tolerance=3).round(1))

# %% Why? What became of every worker.
told = byz.aggregate(rows, "nnm+geometric_median", tolerance=3, explain=True)
print("\nworker  weight  distance  verdict")
for worker, (weight, distance, verdict) in enumerate(zip(told.weights, told.distances, told.verdicts, strict=True)):
    print(f"{worker:6}  {weight:6.3f}  {'-' if distance is None else f'{distance:.2g}':>8}  {verdict}")

# %% Where nothing can be promised, nothing is returned.
try:
    byz.aggregate(rows[5:], "nnm+geometric_median", tolerance=3)
except byz.RefusedError as refused:
    print(f"\n{refused}")

# %% Rules are text or objects. A script for ByzFL needs another import line only.
rule = byz.pre_aggregators.NearestNeighborMixing() + byz.aggregators.Krum()
print(f"\n{rule}: {byz.aggregate(rows, rule, tolerance=3).round(1)}")
print(f"as in a script for ByzFL:     {byzfl.TrMean(f=3)(rows).round(1)}")

# %% Training with the engine: 3 of 20 workers send ten times the opposite of what the honest ones send on average.
print()
setting = {"task": "quartic", "rounds": 1000, "byzantine": 3, "attack": "inner_product(scale=10)"}
for defense, tolerance in (("mean", 0), ("nnm+geometric_median", 3)):
    run = byz.run({**setting, "defense": defense, "tolerance": tolerance}, progress=False)
    print(f"{defense:<22}gradient norm {run.rounds[0]['metric']:.0f} before, {run.summary['metric']:.0g} after {run.summary['rounds']} rounds")

# %% PyTorch: an optimiser that takes a gradient per worker.
print("\nPyTorch")
try:
    import torch

    import byz.torch
except ImportError:
    print("is not installed")
else:
    parameter = torch.nn.Parameter(torch.zeros(4))
    optimizer = byz.torch.ByzNSGDM([parameter], workers=10, tolerance=3, lr=0.3)
    for _ in range(500):
        gradients = parameter.detach() - torch.tensor(rows, dtype=torch.float32)
        gradients[9] *= -1
        optimizer.step(gradients, explain=True)
    without = [worker for worker, weight in enumerate(optimizer.report.weights) if weight < 0.01]
    print("found", parameter.detach().numpy().round(1), "without", without)
