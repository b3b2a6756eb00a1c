"""The state of the optimiser for PyTorch: saved, copied, damaged."""

import copy
import io
import pickle

import numpy as np
import pytest

import byz

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402
from torch_models import assert_same, everything, problem, small  # noqa: E402

from byz.torch import ByzNSGDM, per_worker_gradients  # noqa: E402


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


@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_a_state_of_others_is_refused_and_changes_nothing():
    _, nine = small()
    model = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 3))
    three = ByzNSGDM([{"params": layer.parameters()} for layer in model], workers=3, tolerance=0)
    wider = ByzNSGDM([{"params": nn.Linear(5, 6).parameters()}, {"params": nn.Linear(6, 3).parameters()}], workers=9, tolerance=2)
    with pytest.raises(ValueError, match="9 workers, the optimiser of 3: make it with workers=9"):
        three.load_state_dict(nine.state_dict())
    with pytest.raises(ValueError, match="parameter 0 of the state is of shape"):
        wider.load_state_dict(nine.state_dict())
    with pytest.raises(ValueError, match="no state of ByzNSGDM"):
        three.load_state_dict(torch.optim.SGD(model.parameters()).state_dict())
    assert three.round == wider.round == 0 and three.state_dict()["momenta"] is None
    three.step(torch.randn(3, 51))
    wider.step(torch.randn(9, 57))


def damaged(*path_and_value):
    *path, last, value = path_and_value

    def damage(state):
        for key in path:
            state = state[key]
        state[last] = value(state[last]) if callable(value) else value

    return damage


DAMAGES = {
    "too few columns": damaged("momenta", lambda momenta: momenta[:, :50]),
    "too few rows": damaged("momenta", lambda momenta: momenta[:2]),
    "no matrix": damaged("momenta", lambda momenta: momenta[0]),
    "no momenta": damaged("momenta", None),
    "momenta of whole numbers": damaged("momenta", lambda momenta: momenta.long()),
    "momenta of NumPy": damaged("momenta", lambda momenta: momenta.numpy()),
    "momenta without values": damaged("momenta", lambda momenta: momenta.to("meta")),
    "momenta not finite": damaged("momenta", lambda momenta: momenta / 0),
    "round of text": damaged("round", "x"),
    "round below zero": damaged("round", -5),
    "round of the defence": damaged("defense", "round", 1.5),
    "center too short": damaged("defense", "center", lambda center: center[:50]),
    "center of text": damaged("defense", "center", "x"),
    "center not finite": damaged("defense", "center", lambda center: center * np.nan),
    "no defence": damaged("defense", None),
    "half a defence": damaged("defense", {}),
    "held twice": damaged("held", [0, 0, 1, 2]),
    "held of none": damaged("held", [0, 1, 2, 4]),
    "held below zero": damaged("held", [-1, 0, 1, 2]),
    "held by no number": damaged("held", [0.0, 1, 2, 3]),
    "held by nobody": damaged("held", None),
    "shapes": damaged("shapes", 3),
    "norm": damaged("param_groups", 1, "norm", "l3"),
    "rate of text": damaged("param_groups", 1, "lr", "x"),
    "rate not finite": damaged("param_groups", 0, "lr", np.nan),
    "steps": damaged("param_groups", 0, "spectral_steps", -1),
    "no norm": lambda state: state["param_groups"][1].pop("norm"),
    "no parameters": lambda state: state["param_groups"][1].pop("params"),
    "other parameters": damaged("param_groups", 1, "params", [2]),
    "fewer groups": lambda state: state["param_groups"].pop(),
    "groups of text": damaged("param_groups", "xy"),
    "no groups": damaged("param_groups", None),
    "state of text": damaged("state", "x"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_a_damaged_state_is_a_value_error_and_changes_nothing(damage):
    _, other = small(rule="centered_clipping")
    other.param_groups[0]["lr"] = 0.7
    other.step(torch.randn(9, 51))
    state = copy.deepcopy(other.state_dict())
    DAMAGES[damage](state)
    model, optimizer = small(rule="centered_clipping")
    before, groups = everything(model, optimizer), copy.deepcopy(optimizer.state_dict()["param_groups"])
    with pytest.raises(ValueError, match="state|held|norm|lr|round|spectral_steps"):
        optimizer.load_state_dict(state)
    assert_same(before, everything(model, optimizer))
    assert optimizer.state_dict()["param_groups"] == groups
    optimizer.step(torch.randn(9, 51))


@pytest.mark.parametrize("made", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))], ids=["copied", "pickled"])
@pytest.mark.parametrize("schedule", ["inverse_sqrt", "constant"])
@pytest.mark.filterwarnings("ignore::byz.NotGuaranteedWarning")
def test_copies_go_on_to_the_same_bits(made, schedule):
    model, optimizer = small(rule="bucketing+centered_clipping", tolerance=1, schedule=schedule)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)  # Puts a function of its own around `step`.
    optimizer.step(torch.randn(9, 51), explain=True)
    scheduler.step()
    twin, other = made((model, optimizer))
    assert_same(everything(model, optimizer), everything(twin, other))
    for _ in range(2):
        gradients = torch.randn(9, 51)
        untouched = everything(model, optimizer)
        other.step(gradients)
        assert_same(untouched, everything(model, optimizer))
        optimizer.step(gradients)
        assert_same(everything(model, optimizer), everything(twin, other))


def test_a_pickle_is_as_large_as_the_state():
    parameters = [torch.nn.Parameter(torch.zeros(200)) for _ in range(60)]
    optimizer = byz.torch.ByzNSGDM(parameters, workers=8, tolerance=2)
    optimizer.step(torch.randn(8, 12_000))
    assert len(pickle.dumps(optimizer)) < 2 * 8 * 12_000 * 4


def test_a_state_of_other_shapes_is_refused():
    def optimizer(*sizes, workers=4):
        return byz.torch.ByzNSGDM([torch.nn.Parameter(torch.zeros(size)) for size in sizes], workers=workers, tolerance=1)

    state = optimizer(12, 4).state_dict()
    for other in (optimizer(4, 12), optimizer(12, 4, workers=5), optimizer(16)):
        with pytest.raises(ValueError, match="the state is of|of the state is of"):
            other.load_state_dict(state)
