"""The optimiser for PyTorch against a plain loop, and the gradients of all workers."""

import copy

import numpy as np
import pytest

import byz

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402
from torch_models import assert_same, everything, problem, small  # noqa: E402

from byz.torch import ByzNSGDM, per_worker_gradients  # noqa: E402


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


WRONG = {
    "longer rows": lambda: torch.randn(9, 56),
    "shorter rows": lambda: torch.randn(9, 50),
    "shorter rows of NumPy": lambda: np.random.default_rng(0).normal(size=(9, 50)),
    "whole numbers": lambda: torch.ones(9, 51, dtype=torch.int64),
    "dictionaries": lambda: [{"weight": torch.randn(51)} for _ in range(9)],
    "lists of another shape": lambda: [[torch.randn(51), torch.randn(2)] for _ in range(9)],
    "words": lambda: ["gradient"] * 9,
    "five of nine of another length": lambda: [*torch.randn(5, 50), *torch.randn(4, 51)],
    "one wrong and nothing else": lambda: [torch.randn(50)] + [None] * 8,
    "nothing": lambda: [None] * 9,
}


@pytest.mark.parametrize("rule", ["nnm+geometric_median", "mean", "centered_clipping"])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_rounds_of_another_form_are_refused_and_change_nothing(wrong, rule):
    model, optimizer = small(rule=rule)
    before = everything(model, optimizer)
    with pytest.raises(byz.RefusedError) as refused:
        optimizer.step(WRONG[wrong]())
    assert len(refused.value.verdicts) == 9
    assert_same(before, everything(model, optimizer))


def test_a_refusal_says_what_was_expected_and_found():
    _, optimizer = small()
    with pytest.raises(byz.RefusedError, match="expected 51 numbers.*got 50"):
        optimizer.step(torch.randn(9, 50))
    with pytest.raises(byz.RefusedError) as refused:
        optimizer.step([*torch.randn(5, 50), *torch.randn(3, 51), None])
    assert [verdict.split(":")[0] for verdict in refused.value.verdicts] == ["invalid"] * 5 + ["used"] * 3 + ["missing"]


@pytest.mark.parametrize(
    "wrong",
    [torch.zeros(50), np.zeros(52), torch.zeros(51, 1), torch.ones(51, dtype=torch.int64), {"weight": torch.zeros(51)}, "no", 1.0, []],
    ids=["shorter", "longer", "column", "whole numbers", "dictionary", "word", "number", "empty"],
)
@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_one_row_of_another_form_is_a_verdict_and_never_used(wrong):
    gradients = torch.randn(9, 51, generator=torch.Generator().manual_seed(0))
    model, optimizer = small(rule="mean", tolerance=1)
    other, absent = small(rule="mean", tolerance=1)
    optimizer.step([wrong, *gradients[1:]], explain=True)
    absent.step([None, *gradients[1:]])
    assert optimizer.report.verdicts[0].startswith("invalid: expected ") and optimizer.report.verdicts[1:] == ["used"] * 8
    assert_same(everything(model, optimizer), everything(other, absent))


class Hostile:
    def __array__(self, *_, **__):
        raise OSError("gotcha")


def test_a_row_that_cannot_be_read_is_a_verdict():
    _, optimizer = small()
    optimizer.step([Hostile(), [[torch.randn(51)]], *torch.randn(7, 51)], explain=True)
    assert optimizer.report.verdicts[0] == "invalid: reading it raised OSError: gotcha"
    assert optimizer.report.verdicts[1].startswith("invalid: expected 4 arrays")


def test_gradients_of_numpy_are_gradients():
    gradients = torch.randn(9, 51, generator=torch.Generator().manual_seed(0))
    arrays = [row.numpy() for row in gradients]
    read_only = gradients.numpy().copy()
    read_only.flags.writeable = False
    backwards = np.ascontiguousarray(gradients.numpy()[:, ::-1])[:, ::-1]
    shapes = {24: (6, 4), 6: (6,), 18: (3, 6), 3: (3,)}
    parts = [[part.numpy().reshape(shapes[len(part)]) for part in row.split(list(shapes))] for row in gradients]
    model, optimizer = small(rule="mean", tolerance=0)
    optimizer.step(gradients)
    expected = everything(model, optimizer)
    mixed = [arrays[0], *gradients[1:8], arrays[8]]
    for same in (arrays, gradients.numpy(), read_only, backwards, parts, mixed, iter(gradients)):
        model, optimizer = small(rule="mean", tolerance=0)
        optimizer.step(same)
        assert_same(expected, everything(model, optimizer))


def test_a_gradient_too_large_for_the_momenta_is_a_verdict_and_does_not_spoil_them():
    model, optimizer = small(momentum=0.5)
    gradients = torch.randn(9, 51, dtype=torch.float64)
    gradients[0] = 1e300
    optimizer.step(gradients, explain=True)
    assert optimizer.report.verdicts[0].startswith("invalid")
    gradients[0] = 3e38
    optimizer.step(gradients)
    gradients[0] = -3e38
    optimizer.step(gradients, explain=True)
    assert optimizer.state_dict()["momenta"].isfinite().all()
    optimizer.step(torch.randn(9, 51), explain=True)
    assert optimizer.report.verdicts[0] == "used"


@pytest.mark.parametrize("lists", [False, True])
def test_frozen_parameters_stay_and_the_others_move(lists):
    model, loss, batches = problem()
    optimizer = ByzNSGDM(model.parameters(), workers=10, tolerance=2, rule="median")
    model[0].weight.requires_grad_(False)
    before = [p.detach().clone() for p in model.parameters()]
    gradients = per_worker_gradients(model, loss, batches)
    assert gradients.shape == (10, 35)
    if lists:
        parts = [row.split([8, 24, 3]) for row in gradients]
        gradients = [[None, bias, weight.view(3, 8), last] for bias, weight, last in parts]
    optimizer.step(gradients)
    moved = [p.detach() - old for p, old in zip(model.parameters(), before, strict=True)]
    assert not moved[0].any() and all(part.any() for part in moved[1:])
    assert torch.cat([part.reshape(-1) for part in moved]).norm().item() == pytest.approx(0.1)
    assert optimizer.state_dict()["momenta"].shape == (10, 35)


@pytest.mark.parametrize("rule", ["median", "centered_clipping"])
@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_momenta_are_kept_while_a_parameter_is_frozen(rule):
    model, optimizer = small(rule=rule)
    first = optimizer.state_dict()["momenta"][:, :24]
    model[0].weight.requires_grad_(False)
    optimizer.step(torch.randn(9, 27))
    twin, other = small(rule=rule)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert torch.equal(optimizer.state_dict()["momenta"][:, :24], first)
    model[0].weight.requires_grad_(True)
    twin.load_state_dict(model.state_dict())
    gradients = torch.randn(9, 51)
    for one in (optimizer, other):
        one.step(gradients)
    assert torch.allclose(optimizer.state_dict()["momenta"][:, :24], 0.9 * first + 0.1 * gradients[:, :24])
    assert_same(everything(model, optimizer), everything(twin, other))


def test_with_all_parameters_frozen_there_is_nothing_to_step():
    model, optimizer = small()
    model.requires_grad_(False)
    with pytest.raises(ValueError, match="no parameter requires a gradient"):
        optimizer.step(torch.randn(9, 0))
    with pytest.raises(ValueError, match="no parameter of the model requires a gradient"):
        per_worker_gradients(model, nn.CrossEntropyLoss(), [(torch.randn(2, 4), torch.zeros(2, dtype=torch.int64))])


def raising(round):
    raise RuntimeError("no rate")


@pytest.mark.parametrize("breakage", ["schedule", "infinite", "norm", "rate"])
@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_a_step_that_fails_changes_nothing(breakage):
    model, optimizer = small(rule="centered_clipping")
    before = everything(model, optimizer)
    if breakage == "schedule":
        optimizer.schedule = raising
    elif breakage == "infinite":
        optimizer.schedule = lambda round: float("nan")
    elif breakage == "norm":
        optimizer.param_groups[1]["norm"] = "l3"
    else:
        optimizer.param_groups[1]["lr"] = "fast"
    with pytest.raises((RuntimeError, ValueError)):
        optimizer.step(torch.randn(9, 51))
    assert_same(before, everything(model, optimizer))


@pytest.mark.parametrize("rule", ["mean", "centered_clipping"])
@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_a_group_added_later_starts_with_momenta_of_zero(rule):
    model, optimizer = small(rule=rule)
    first = optimizer.state_dict()["momenta"]
    added = nn.Parameter(torch.zeros(5))
    optimizer.add_param_group({"params": [added], "norm": "linf"})
    gradients = torch.randn(9, 56)
    optimizer.step(gradients)
    momenta = optimizer.state_dict()["momenta"]
    assert torch.allclose(momenta, 0.9 * torch.cat([first, torch.zeros(9, 5)], dim=1) + 0.1 * gradients)
    assert torch.allclose(added.detach().abs(), torch.full((5,), 0.1 / 2**0.5))
    with pytest.raises(byz.RefusedError, match="expected 56 numbers"):
        optimizer.step(torch.randn(9, 51))


def test_a_group_with_a_wrong_norm_is_not_added():
    _, optimizer = small()
    with pytest.raises(ValueError, match="norm: expected one of"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(5))], "norm": "l3"})
    assert len(optimizer.param_groups) == 2
    optimizer.step(torch.randn(9, 51))


@pytest.mark.parametrize("even", [True, False])
def test_running_statistics_are_refused_with_what_to_do(even):
    _, loss, batches = problem()
    batches = batches if even else [*batches[:9], (batches[9][0][:5], batches[9][1][:5])]
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
    with pytest.raises(ValueError, match="BatchNorm1d '1'.*track_running_stats=False.*eval mode.*GroupNorm"):
        per_worker_gradients(model, loss, batches)
    assert model[1].num_batches_tracked == 0
    model[1].eval()
    per_worker_gradients(model, loss, batches)
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8, track_running_stats=False), nn.Linear(8, 3))
    rows = per_worker_gradients(model, loss, batches)
    loss(model(batches[9][0]), batches[9][1]).backward()
    assert torch.allclose(torch.cat([p.grad.reshape(-1) for p in model.parameters()]), rows[9], atol=1e-5)


def test_batches_may_be_any_iterable_but_not_none():
    model, loss, batches = problem()
    assert torch.equal(per_worker_gradients(model, loss, (batch for batch in batches)), per_worker_gradients(model, loss, batches))
    for empty in ([], iter([])):
        with pytest.raises(ValueError, match="expected one per worker, got none"):
            per_worker_gradients(model, loss, empty)
    with pytest.raises(ValueError, match="batch 0: expected a pair of inputs and targets"):
        per_worker_gradients(model, loss, [(batches[0][0],)])


@pytest.mark.parametrize("workers, error", [("x", TypeError), (2.5, TypeError), (True, TypeError), (0, ValueError), (-1, ValueError)])
def test_workers_are_a_whole_number_above_zero(workers, error):
    with pytest.raises(error, match="workers must be"):
        ByzNSGDM(nn.Linear(2, 2).parameters(), workers=workers)


WRONG_SETTINGS = [{"lr": 0.0}, {"lr": np.inf}, {"lr": np.nan}, {"momentum": 1.0}, {"schedule": "linear"}, {"norm": "l3"}, {"spectral_steps": -1}]


@pytest.mark.parametrize("wrong", WRONG_SETTINGS)
def test_wrong_settings_are_value_errors(wrong):
    with pytest.raises(ValueError):
        ByzNSGDM(nn.Linear(2, 2).parameters(), **wrong)


@pytest.mark.parametrize("wrong", ["x", True, None, torch.ones(2)], ids=str)
@pytest.mark.parametrize("name", ["lr", "momentum"])
def test_what_is_no_number_is_a_type_error(name, wrong):
    with pytest.raises(TypeError, match=f"{name} must be a number, got "):
        ByzNSGDM(nn.Linear(2, 2).parameters(), **{name: wrong})
    if name == "lr":
        with pytest.raises(TypeError, match="lr of a group must be a number, got "):
            ByzNSGDM([{"params": [nn.Parameter(torch.zeros(3))], "lr": wrong}])
    for right in (np.float32(0.5), torch.tensor(0.5)):
        ByzNSGDM(nn.Linear(2, 2).parameters(), **{name: right})


@pytest.mark.parametrize("wrong", [{"lr": -0.1}, {"lr": np.inf}, {"lr": np.nan}, {"lr": torch.tensor(-1.0)}, {"spectral_steps": -1}])
def test_wrong_settings_of_a_group_are_value_errors(wrong):
    group = {"params": [nn.Parameter(torch.zeros(3, 2))], "norm": "spectral"}
    with pytest.raises(ValueError, match="lr of a group|spectral_steps"):
        ByzNSGDM([{**group, **wrong}], workers=3, tolerance=1)
    optimizer = ByzNSGDM(nn.Linear(2, 2).parameters(), workers=3, tolerance=1)
    with pytest.raises(ValueError, match="lr of a group|spectral_steps"):
        optimizer.add_param_group({**group, **wrong})
    assert len(optimizer.param_groups) == 1
    with pytest.raises(TypeError, match="spectral_steps must be a whole number"):
        optimizer.add_param_group({**group, "spectral_steps": 2.5})
    optimizer.add_param_group({**group, "lr": 0.0, "spectral_steps": 5})
    optimizer.step(torch.randn(3, 12))


def test_the_number_of_workers_is_checked():
    optimizer = ByzNSGDM(nn.Linear(2, 2).parameters(), workers=4, tolerance=1)
    with pytest.raises(ValueError, match="4 workers, got 3"):
        optimizer.step(torch.zeros(3, 6))
    before = [p.detach().clone() for p in optimizer.param_groups[0]["params"]]
    optimizer.step(torch.zeros(4, 6))  # A zero aggregate: no step, and no NaN.
    assert all(torch.equal(a, b) for a, b in zip(before, optimizer.param_groups[0]["params"], strict=True))
    assert np.isfinite(optimizer.state_dict()["momenta"].numpy()).all()


def test_a_rate_that_is_not_finite_moves_nothing():
    parameter = torch.nn.Parameter(torch.zeros(3))
    optimizer = byz.torch.ByzNSGDM([parameter], workers=5, tolerance=1)
    optimizer.param_groups[0]["lr"] = float("nan")
    with pytest.raises(ValueError, match="lr must be finite"):
        optimizer.step(torch.ones(5, 3))
    assert not parameter.any() and optimizer.round == 0
