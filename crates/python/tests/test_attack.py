"""What liars send."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import byz


def test_hand_computed(rows):
    honest = rows[:17].astype(np.float64)
    mean, std = honest.mean(axis=0), honest.std(axis=0, ddof=1)
    for attack, expected in {
        "sign_flip(of=mean)": -mean,
        "inner_product(scale=0.5)": -0.5 * mean,
        "little_is_enough(z=1.5)": mean + 1.5 * std,
        "zero": 0 * mean,
    }.items():
        forged = byz.Attack(attack).forge(honest, 3)
        assert forged.shape == (3, 50) and np.allclose(forged, expected, atol=1e-12), attack


def test_line_searches_look_at_the_defence(rows):
    honest, defense = rows[:17], byz.Defense("nnm+krum", 3)
    forged = byz.Attack("inner_product(scale=optimal)").forge(honest, 3, defense=defense)
    plain = byz.Attack("inner_product").forge(honest, 3)

    def damage(liars):
        return np.linalg.norm(byz.aggregate(np.vstack([honest, liars]), "nnm+krum") - honest.mean(axis=0))

    assert damage(forged) >= damage(plain)
    with pytest.raises(ValueError, match="looks at the defence"):
        byz.Attack("inner_product(scale=optimal)").forge(honest, 3)


@pytest.mark.parametrize("wrong", ["median", byz.aggregators.Median(), byz.Defense])
def test_a_rule_is_no_defence(rows, wrong):
    with pytest.raises(TypeError, match=r"defense: expected a byz.Defense, as byz.Defense\('median', tolerance=3\) is, got "):
        byz.Attack("min_max").forge(rows, 1, defense=wrong)


def test_the_same_seed_draws_the_same(rows):
    first, again, other = [byz.Attack("gaussian", seed=seed).forge(rows, 2) for seed in (1, 1, 2)]
    assert np.array_equal(first, again) and not np.array_equal(first, other) and not np.array_equal(first[0], first[1])


def test_own_messages_have_the_right_shape(rows):
    assert np.array_equal(byz.Attack("sign_flip").forge(rows[:17], 3, own=rows[17:]), -rows[17:])
    with pytest.raises(ValueError, match="expected 2 rows of 50 numbers"):
        byz.Attack("sign_flip").forge(rows[:17], 2, own=rows[17:])


def test_own_messages_belong_to_the_keys_of_the_honest():
    honest = [{"a": np.zeros(2), "b": np.zeros(4)}] * 3
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0, 6.0])
    for own in ({"a": a, "b": b}, {"b": b, "a": a}, OrderedDict(b=b, a=a)):
        [forged] = byz.Attack("none").forge(honest, 1, own=[own])
        assert np.array_equal(forged["a"], a) and np.array_equal(forged["b"], b)
    for other in ([{"x": np.arange(6.0)}], [{"a": b, "b": a}], np.ones((1, 6))):
        with pytest.raises(ValueError, match="own: .*expected .*, as in honest"):
            byz.Attack("none").forge(honest, 1, own=other)


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("attack", ["sign_flip", "little_is_enough", "fang", "min_max", "gaussian"])
def test_the_bits_do_not_depend_on_the_layout_in_memory(attack, length):
    random = np.random.default_rng(0)
    for count in (9, 40, 300):
        honest = random.normal(size=(count, length))
        wide = np.zeros((2 * count, 3 * length))
        wide[::2, ::3] = honest
        raw = np.zeros(honest.nbytes + 1, np.uint8)
        raw[1:] = honest.view(np.uint8).reshape(-1)
        unaligned = raw[1:].view(honest.dtype).reshape(honest.shape)
        backwards = np.ascontiguousarray(honest[::-1, ::-1])[::-1, ::-1]
        expected = byz.Attack(attack).forge(honest, 2).tobytes()
        for same in (np.asfortranarray(honest), wide[::2, ::3], unaligned, backwards, list(honest)):
            assert np.stack(byz.Attack(attack).forge(same, 2)).tobytes() == expected


def test_liars_answer_in_the_container_of_the_honest(rows):
    attack, honest = byz.Attack("sign_flip(of=mean)"), rows[:17]
    expected = attack.forge(honest, 2)
    assert expected.shape == (2, 50) and expected.dtype == np.float32
    assert np.array_equal(attack.forge(honest.reshape(17, 5, 10), 2), expected.reshape(2, 5, 10))
    listed = attack.forge(list(honest), 2)
    assert isinstance(listed, list) and np.array_equal(listed, expected)
    parts = attack.forge([[row[:20].reshape(4, 5), row[20:]] for row in honest], 2)
    assert [[part.shape for part in message] for message in parts] == [[(4, 5), (30,)]] * 2
    assert np.array_equal(parts[1][1], expected[1, 20:])
    [named] = attack.forge([{"w": row[:20], "b": row[20:]} for row in honest], 1)
    assert list(named) == ["w", "b"] and np.array_equal(named["w"], expected[0, :20])
    halves = attack.forge(list(honest.astype(np.float16)), 1)
    assert halves[0].dtype == np.float16


@pytest.mark.parametrize("size", [9, 9000])
def test_lists_of_tensors_of_any_size_give_lists_of_tensors(size):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    honest = torch.randn(7, size)
    for byzantine in (1, 3):
        expected = byz.Attack("sign_flip(of=mean)").forge(honest, byzantine)
        assert expected.shape == (byzantine, size) and torch.allclose(expected, -honest.mean(0), atol=1e-6)
        forged = byz.Attack("sign_flip(of=mean)").forge(list(honest), byzantine)
        assert isinstance(forged, list) and torch.equal(torch.stack(forged), expected)
    [[weight]] = byz.Attack("zero").forge([[row.reshape(3, -1).bfloat16()] for row in honest])
    assert weight.shape == (3, size // 3) and weight.dtype == torch.bfloat16


def test_nobody_lies_or_nothing_is_said():
    for attack in byz.names("attack"):
        if attack != "worst_of":
            made, defense = byz.Attack(attack), byz.Defense("median", 1)
            assert made.forge(np.ones((4, 0)), 2, defense=defense).shape == (2, 0)
            assert made.forge(np.ones((4, 3)), 0, defense=defense).shape == (0, 3)
            assert made.forge(list(np.ones((4, 3))), 0, own=[], defense=defense) == []


@pytest.mark.parametrize("nobody", [np.zeros((0, 5)), np.zeros((0, 2, 3)), []])
def test_without_honest_workers_there_is_nothing_to_forge_from(nobody):
    with pytest.raises(ValueError, match="one honest worker at least"):
        byz.Attack("sign_flip(of=mean)").forge(nobody, 1)


def test_honest_vectors_are_of_one_form(rows):
    for odd, why in ((None, "missing"), (rows[0, :7], "expected float32 of shape"), ("garbage", "got str")):
        with pytest.raises(ValueError, match=why):
            byz.Attack("zero").forge([*rows[:5], odd], 1)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_vectors_that_are_not_finite_are_told_and_no_round_passes(rows, bad):
    attack = byz.Attack("sign_flip(of=mean)")
    for some in (slice(3, 4), slice(None)):
        honest = rows[:5].copy()
        honest[some, 7] = bad
        for same in (honest, list(honest), [{"w": row[:20], "b": row[20:]} for row in honest]):
            with pytest.raises(ValueError, match=f"honest: vectors must be finite, and vector {some.start or 0} is not"):
                attack.forge(same, 1)
        with pytest.raises(ValueError, match="own: vectors must be finite"):
            attack.forge(rows, 5, own=honest)
    assert attack.round == 0


@pytest.mark.parametrize("wrong", [-1, 2**64])
def test_counts_that_are_none_are_value_errors(rows, wrong):
    with pytest.raises(ValueError, match="byzantine"):
        byz.Attack("zero").forge(rows, wrong)
    with pytest.raises(ValueError, match="seed"):
        byz.Attack("gaussian", seed=wrong)


def test_more_liars_than_a_defence_would_take_are_refused_before_memory_is_taken(rows):
    for many in (9_981, 10**13):
        with pytest.raises(ValueError, match=f"byzantine={many} with 20 honest workers are more than 10000 in all"):
            byz.Attack("zero").forge(rows, many)
    assert byz.Attack("zero").forge(rows, 9_980).shape == (9_980, 50)


@pytest.mark.parametrize("expression", ["gaussian", "mimic"])
def test_copies_go_on_with_the_seed_the_round_and_what_is_remembered(rows, expression):
    attack = byz.Attack(expression, seed=3)
    for scale in (1, -3, 2):
        attack.forge(scale * rows[:, ::-1] ** 2, 2)
    others = copy.deepcopy(attack), copy.copy(attack), pickle.loads(pickle.dumps(attack))
    expected = attack.forge(rows, 2)
    for other in others:
        assert repr(other) == repr(attack) and np.array_equal(other.forge(rows, 2), expected)
