"""What liars send."""

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


def test_the_same_seed_draws_the_same(rows):
    first, again, other = [byz.Attack("gaussian", seed=seed).forge(rows, 2) for seed in (1, 1, 2)]
    assert np.array_equal(first, again) and not np.array_equal(first, other) and not np.array_equal(first[0], first[1])


def test_own_messages_have_the_right_shape(rows):
    assert np.array_equal(byz.Attack("sign_flip").forge(rows[:17], 3, own=rows[17:]), -rows[17:])
    with pytest.raises(ValueError, match="expected 2 rows of 50 numbers"):
        byz.Attack("sign_flip").forge(rows[:17], 2, own=rows[17:])
