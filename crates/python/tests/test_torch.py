"""Tensors as messages, and the optimiser against a plain loop."""

import copy
import io

import numpy as np
import pytest

import byz

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402

from byz.torch import ByzNSGDM, per_worker_gradients  # noqa: E402


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_come_back_as_they_came(rows, dtype):
    dtype = getattr(torch, dtype)
    tensor = torch.from_numpy(rows).to(dtype)
    expected = byz.aggregate(tensor.to(torch.float64 if dtype == torch.float64 else torch.float32).numpy())
    separate = [row.clone() for row in tensor]
    turned = tensor.T.contiguous().T
    for same in (tensor, separate, list(tensor), tuple(separate), turned, tensor.requires_grad_()):
        found = byz.aggregate(same)
        assert found.dtype == dtype and not found.requires_grad
        assert torch.equal(found, torch.from_numpy(expected).to(dtype))


def test_parameters_and_state_dicts(rows):
    models = [nn.Linear(9, 5) for _ in range(7)]
    listed = byz.aggregate([list(model.parameters()) for model in models], "median", 2)
    named = byz.aggregate([model.state_dict() for model in models], "median", 2)
    expected = torch.stack([model.weight.detach() for model in models]).quantile(0.5, dim=0)
    assert torch.allclose(listed[0], expected) and torch.equal(named["weight"], listed[0]) and named["bias"].shape == (5,)
    nn.Linear(9, 5).load_state_dict(named)


def test_large_lists_of_tensors_are_not_copied_and_give_the_same_bits():
    tensor = torch.randn(10, 5000, generator=torch.Generator().manual_seed(0))
    assert torch.equal(byz.aggregate(list(tensor), "nnm+krum", 2), byz.aggregate(tensor, "nnm+krum", 2))


def test_one_bad_tensor_is_a_verdict():
    tensors = [torch.ones(3) for _ in range(6)] + [torch.ones(3, dtype=torch.int64)]
    told = byz.aggregate(tensors, "median", 1, explain=True)
    assert told.verdicts[6].startswith("invalid: expected a dense tensor of floats, got int64")


def problem(seed=0):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    batches = [(torch.randn(16, 6), torch.randint(3, (16,))) for _ in range(10)]
    return model, nn.CrossEntropyLoss(), batches


def test_gradients_of_all_workers_are_those_of_each():
    model, loss, batches = problem()
    rows, losses = per_worker_gradients(model, loss, batches, with_losses=True)
    for batch, row, value in zip(batches, rows, losses, strict=True):
        model.zero_grad()
        alone = loss(model(batch[0]), batch[1])
        alone.backward()
        assert torch.allclose(torch.cat([p.grad.reshape(-1) for p in model.parameters()]), row, atol=1e-6)
        assert torch.allclose(alone, value)
    uneven = [(inputs[: 5 + k], targets[: 5 + k]) for k, (inputs, targets) in enumerate(batches)]
    assert per_worker_gradients(model, loss, uneven).shape == rows.shape


@pytest.mark.parametrize("norm", ["l2", "linf", "spectral"])
def test_the_optimiser_is_the_plain_loop(norm):
    model, loss, batches = problem()
    plain = copy.deepcopy(model)
    optimizer = ByzNSGDM(model.parameters(), workers=10, tolerance=2, rule="trimmed_mean", lr=0.3, momentum=0.8, norm=norm)
    momenta = torch.zeros(10, sum(p.numel() for p in plain.parameters()))
    for k in range(1, 6):
        optimizer.step(per_worker_gradients(model, loss, batches))
        momenta = 0.8 * momenta + 0.2 * per_worker_gradients(plain, loss, batches)
        update = momenta.sort(dim=0)[0][2:-2].mean(dim=0)
        start = 0
        for parameter in plain.parameters():
            part = update[start : start + parameter.numel()].view(parameter.shape)
            start += parameter.numel()
            if norm == "l2":
                part = part / update.norm()
            elif norm == "linf":
                part = part.sign()
            elif part.ndim == 1:
                part = part / part.norm()
            else:
                left, _, right = torch.linalg.svd(part, full_matrices=False)
                part = left @ right
            parameter.data -= 0.3 / k**0.5 * part
        for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
            assert torch.allclose(ours, theirs, atol=2e-5), (norm, k)


def test_groups_have_norms_and_rates_of_their_own():
    model, loss, batches = problem()
    first, last = model[0], model[2]
    before = [p.detach().clone() for p in model.parameters()]
    groups = [{"params": first.parameters(), "norm": "linf", "lr": 0.01}, {"params": last.parameters()}]
    ByzNSGDM(groups, workers=10, tolerance=2, lr=0.5).step(per_worker_gradients(model, loss, batches))
    moved = [p.detach() - old for p, old in zip(model.parameters(), before, strict=True)]
    assert torch.allclose(moved[0].abs(), torch.full_like(moved[0], 0.01), atol=1e-6)
    assert abs(torch.cat([part.reshape(-1) for part in moved[2:]]).norm().item() - 0.5) < 1e-5


def test_newton_schulz_makes_singular_values_near_one():
    weight = nn.Parameter(torch.zeros(6, 4))
    optimizer = ByzNSGDM([weight], workers=3, tolerance=0, rule="mean", lr=1.0, norm="spectral", spectral_steps=5)
    torch.manual_seed(0)
    optimizer.step(torch.randn(24).expand(3, 24))
    values = torch.linalg.svdvals(weight.detach())
    assert 0.6 < values.min() and values.max() < 1.3


def test_a_liar_is_left_out_and_its_momentum_is_not_spoilt():
    model, loss, batches = problem()
    optimizer = ByzNSGDM(model.parameters(), workers=10, tolerance=3)
    gradients = list(per_worker_gradients(model, loss, batches))
    bad = [*gradients]
    bad[0], bad[1], bad[2] = torch.full_like(bad[0], float("nan")), None, bad[2][:5]
    optimizer.step(bad, explain=True)
    assert [verdict.split(":")[0] for verdict in optimizer.report.verdicts[:4]] == ["invalid", "missing", "invalid", "used"]
    optimizer.step(gradients, explain=True)
    assert optimizer.report.verdicts == ["used"] * 10
    lists = [list(torch.split(row, [48, 8, 24, 3])) for row in gradients]
    lists = [[part.view(p.shape) for part, p in zip(row, model.parameters(), strict=True)] for row in lists]
    optimizer.step(lists)


def test_a_refused_round_changes_nothing():
    model, loss, batches = problem()
    optimizer = ByzNSGDM(model.parameters(), workers=10, tolerance=2)
    gradients = per_worker_gradients(model, loss, batches)
    optimizer.step(gradients)
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    gradients[:3] = float("inf")
    with pytest.raises(byz.RefusedError):
        optimizer.step(gradients)
    after = (model.state_dict(), optimizer.state_dict())
    assert all(torch.equal(before[0][name], after[0][name]) for name in before[0])
    assert torch.equal(before[1]["momenta"], after[1]["momenta"]) and before[1]["round"] == after[1]["round"] == 1


def test_a_saved_state_goes_on_to_the_same_bits():
    model, loss, batches = problem()
    optimizer = ByzNSGDM(model.parameters(), workers=10, tolerance=1, rule="centered_clipping(radius=0.5)")
    for _ in range(3):
        optimizer.step(per_worker_gradients(model, loss, batches))
    file = io.BytesIO()
    torch.save((model.state_dict(), optimizer.state_dict()), file)
    twin, *_ = problem(seed=1)
    other = ByzNSGDM(twin.parameters(), workers=10, tolerance=1, rule="centered_clipping(radius=0.5)")
    file.seek(0)
    states = torch.load(file, weights_only=True)
    twin.load_state_dict(states[0])
    other.load_state_dict(states[1])
    for trained, by in ((model, optimizer), (twin, other)):
        by.step(per_worker_gradients(trained, loss, batches))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))


def test_it_learns_although_some_lie():
    torch.manual_seed(1)
    true = nn.Linear(5, 3)
    model, loss = nn.Linear(5, 3), nn.CrossEntropyLoss()
    optimizer = ByzNSGDM(model.parameters(), workers=12, tolerance=3, lr=0.5)
    for _ in range(150):
        inputs = torch.randn(12, 32, 5)
        batches = [(one, true(one).argmax(dim=1)) for one in inputs]
        gradients = per_worker_gradients(model, loss, batches)
        gradients[9:] = -10 * gradients[:9].mean(dim=0)
        optimizer.step(gradients)
    inputs = torch.randn(1000, 5)
    assert (model(inputs).argmax(dim=1) == true(inputs).argmax(dim=1)).float().mean() > 0.9


@pytest.mark.parametrize("wrong", [{"lr": 0.0}, {"momentum": 1.0}, {"schedule": "linear"}, {"norm": "l3"}])
def test_wrong_settings_are_value_errors(wrong):
    with pytest.raises(ValueError):
        ByzNSGDM(nn.Linear(2, 2).parameters(), **wrong)


def test_the_number_of_workers_is_checked():
    optimizer = ByzNSGDM(nn.Linear(2, 2).parameters(), workers=4, tolerance=1)
    with pytest.raises(ValueError, match="4 workers, got 3"):
        optimizer.step(torch.zeros(3, 6))
    before = [p.detach().clone() for p in optimizer.param_groups[0]["params"]]
    optimizer.step(torch.zeros(4, 6))  # A zero aggregate: no step, and no NaN.
    assert all(torch.equal(a, b) for a, b in zip(before, optimizer.param_groups[0]["params"], strict=True))
    assert np.isfinite(optimizer.state_dict()["momenta"].numpy()).all()
