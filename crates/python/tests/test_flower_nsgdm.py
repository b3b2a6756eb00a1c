"""Byz-NSGDM over Flower against a plain loop; its momenta; wrong settings."""

import pickle

import numpy as np
import pytest

pytest.importorskip("flwr", reason="flwr is not installed")
from flower_grid import FakeGrid, GOAL, as_a_server_app, clients, crash, found, model, run  # noqa: E402, F401
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict  # noqa: E402

from byz.flower import ByzNSGDM, RobustFedAvg  # noqa: E402
from byz.flower import collect as collecting  # noqa: E402

def flat(arrays):
    return np.concatenate([arrays[name].numpy().reshape(-1) for name in GOAL])


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("place", ["server", "client"])
def test_byz_nsgdm_is_the_plain_loop(norm, place):
    random = np.random.default_rng(3)
    noise = {node: random.normal(size=(5, 6)).astype(np.float32) for node in range(1, 6)}

    def client(node):
        rounds = iter(noise[node])
        return lambda sent: RecordDict({"arrays": unflat(flat(sent) + next(rounds))})

    def unflat(vector):
        return ArrayRecord({"weights": Array(vector[:4].reshape(2, 2)), "bias": Array(vector[4:])})

    strategy = ByzNSGDM("median", 1, rate=0.3, momentum=0.8, momentum_at=place, norm=norm, fraction_evaluate=0)
    result = run(strategy, {node: client(node) for node in noise}, rounds=5)
    momenta, plain = np.zeros((5, 6)), np.zeros(6)
    for k in range(1, 6):
        updates = np.stack([noise[node][k - 1] for node in noise])
        momenta = 0.8 * momenta + 0.2 * updates if place == "server" else updates
        middle = np.median(momenta, axis=0)
        plain += 0.3 / k**0.5 * (np.sign(middle) if norm == "linf" else middle / np.linalg.norm(middle))
    assert np.allclose(flat(result.arrays), plain, atol=1e-4)


def test_momentum_is_kept_per_node_through_bad_rounds_and_forgotten_with_the_node():
    nodes = clients(5)
    nodes[1] = crash
    grid = FakeGrid(nodes)
    strategy = ByzNSGDM("median", 1, momentum=0.5, deadline=0.2, fraction_evaluate=0)
    strategy.start(grid, model(), num_rounds=2)
    assert set(strategy._momenta) == {2, 3, 4, 5} and strategy._momenta[2].updates == 2 and strategy.steps == 2
    before = dict(strategy._momenta)
    grid.clients.update({2: crash, 3: crash, 4: crash})  # Fewer than the quorum: nothing changes.
    questions = strategy.configure_train(3, model(), ConfigRecord(), grid)
    arrays, _ = strategy.aggregate_train(3, collecting.collect(grid, questions, 0.2))
    assert arrays is None and strategy._momenta == before and strategy.steps == 2
    grid.clients = clients(6)
    del grid.clients[2]
    questions = strategy.configure_train(4, model(), ConfigRecord(), grid)
    strategy.aggregate_train(4, collecting.collect(grid, questions, 0.2))
    assert {node: kept.updates for node, kept in strategy._momenta.items()} == {1: 1, 3: 3, 4: 3, 5: 3, 6: 1}


def test_a_zero_aggregate_is_no_step_and_no_nan():
    still = {node: lambda sent: RecordDict({"arrays": ArrayRecord(dict(sent))}) for node in range(3)}
    for norm in ("l2", "linf"):
        assert not found(run(ByzNSGDM("median", 1, norm=norm), still))["bias"].any()


def test_a_second_run_starts_from_scratch():
    strategy = ByzNSGDM("median", 1, fraction_evaluate=0)
    first, second = (found(run(strategy, clients(4), rounds=2)) for _ in range(2))
    assert all(np.array_equal(first[name], second[name]) for name in first) and len(strategy.reports) == 2


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "constant"])
def test_what_was_pickled_goes_on_where_it_was(schedule):
    strategy = ByzNSGDM("median", 1, schedule=schedule, fraction_evaluate=0)
    run(strategy, clients(4), rounds=2)
    copy = pickle.loads(pickle.dumps(strategy))
    aggregate = np.array([3.0, 4.0])
    assert copy.steps == 2 and np.array_equal(copy._step(aggregate), strategy._step(aggregate)) and len(copy.reports) == 2
    again, once_more = (found(run(one, clients(4), rounds=2)) for one in (strategy, copy))
    assert all(np.array_equal(again[name], once_more[name]) for name in again)


@pytest.mark.parametrize(
    "kind, wrong",
    [
        (RobustFedAvg, {"server_rate": 0.0}),
        (RobustFedAvg, {"tolerance": -1}),
        (RobustFedAvg, {"rule": "nonsense"}),
        (RobustFedAvg, {"fraction_train": 1.5}),
        (RobustFedAvg, {"quorum": 0}),
        (RobustFedAvg, {"deadline": 0}),
        (RobustFedAvg, {"min_available_nodes": 0}),
        (ByzNSGDM, {"rate": -1.0}),
        (ByzNSGDM, {"momentum": 1.0}),
        (ByzNSGDM, {"momentum_at": "home"}),
        (ByzNSGDM, {"schedule": "linear"}),
        (ByzNSGDM, {"norm": "l3"}),
    ],
)
def test_wrong_settings_are_value_errors(kind, wrong):
    with pytest.raises(ValueError):
        kind(**wrong)
    with pytest.raises(TypeError, match="fraction_trian"):
        kind(fraction_trian=1.0)


@pytest.mark.parametrize("name", ["rate", "momentum"])
def test_what_is_no_number_is_a_type_error(name):
    with pytest.raises(TypeError, match=f"{name} must be a number, got 'x'"):
        ByzNSGDM(**{name: "x"})
