"""Every container gives the same bits, and comes back as it was."""

import numpy as np
import pytest

import byz


@pytest.fixture
def expected(rows):
    return byz.aggregate(rows)


def test_an_array_gives_a_vector_of_its_type(rows, expected):
    assert isinstance(expected, np.ndarray) and expected.dtype == np.float32 and expected.shape == (50,)
    assert byz.aggregate(rows.astype(np.float64)).dtype == np.float64
    assert byz.aggregate(rows.astype(np.float16)).dtype == np.float16


def test_strides_do_not_matter(rows, expected):
    wide = np.zeros((40, 150), np.float32)
    wide[::2, ::3] = rows
    backwards = rows[::-1, ::-1].copy()
    for same in (np.asfortranarray(rows), wide[::2, ::3], backwards[::-1, ::-1], rows.astype(">f4"), list(rows), tuple(rows)):
        assert np.array_equal(byz.aggregate(same), expected)


def test_unaligned_memory_is_read(rows, expected):
    raw = np.zeros(rows.nbytes + 1, np.uint8)
    raw[1:] = rows.view(np.uint8).reshape(-1)
    unaligned = raw[1:].view(np.float32).reshape(rows.shape)
    assert not unaligned.flags.aligned
    assert np.array_equal(byz.aggregate(unaligned), expected)


def test_a_row_repeated_by_a_stride_of_zero_is_itself(rows):
    assert np.array_equal(byz.aggregate(np.broadcast_to(rows[0], rows.shape)), rows[0])


def test_read_only_input_is_read_and_no_input_is_changed(rows, expected):
    rows.flags.writeable = False
    assert np.array_equal(byz.aggregate(rows), expected)
    rows.flags.writeable = True
    before = rows.copy()
    for rule in byz.names("aggregator"):
        if rule not in ("minimum_diameter_averaging", "smea", "bulyan"):
            byz.aggregate(rows, f"clipping(radius=0.1)+{rule}")
    assert np.array_equal(rows, before)


def test_half_precision_is_computed_in_single(rows):
    half = rows.astype(np.float16)
    single = byz.aggregate(half.astype(np.float32))
    assert np.array_equal(byz.aggregate(half), single.astype(np.float16))
    assert np.array_equal(byz.aggregate(half[:, ::-1])[::-1], single.astype(np.float16))


def test_more_axes_are_kept(rows, expected):
    stack = rows.reshape(20, 5, 10)
    assert np.array_equal(byz.aggregate(stack), expected.reshape(5, 10))
    assert np.array_equal(byz.aggregate(list(stack)), expected.reshape(5, 10))
    assert np.array_equal(byz.aggregate(stack.transpose(0, 2, 1)).shape, (10, 5))


def test_parameters_come_back_as_parameters(rows, expected):
    parts = [[row[:20].reshape(4, 5), row[20:]] for row in rows]
    weight, bias = byz.aggregate(parts)
    assert np.array_equal(weight, expected[:20].reshape(4, 5)) and np.array_equal(bias, expected[20:])
    named = byz.aggregate([dict(zip("wb", part, strict=True)) for part in parts])
    assert list(named) == ["w", "b"] and np.array_equal(named["b"], bias)
    turned = byz.aggregate([[row[:20].reshape(5, 4).T, row[20:]] for row in rows])
    assert np.allclose(turned[0].T.reshape(-1), expected[:20], atol=1e-6)


def test_parameters_of_several_types_keep_them(rows):
    mixed = byz.aggregate([[row[:20].astype(np.float16), row[20:].astype(np.float64)] for row in rows])
    assert [part.dtype for part in mixed] == [np.float16, np.float64]


def test_plain_numbers_are_vectors():
    assert byz.aggregate([[1, 2], [1, 3], [1, 4.5]], "median", 1).tolist() == [1.0, 3.0]


def test_what_one_worker_sent_is_a_verdict(rows, expected):
    messages = [*rows]
    messages[17:] = ["garbage", rows[18].astype(np.float64), rows[19, :7]]
    told = byz.aggregate(messages, explain=True)
    assert told.verdicts[17] == "invalid: expected an array of floats, got str"
    assert told.verdicts[18] == "invalid: float64 of shape (50,), expected float32 of shape (50,)"
    assert told.verdicts[19] == "invalid: float32 of shape (7,), expected float32 of shape (50,)"
    assert (told.messages, told.tolerance) == (17, 0)
    assert np.allclose(told.vector, rows[:17].mean(axis=0), atol=0.2)


def test_nothing_came_is_not_an_offence(rows):
    messages = [*rows]
    messages[3] = None
    told = byz.aggregate(messages, explain=True)
    assert told.verdicts[3] == "missing" and (told.messages, told.tolerance) == (19, 3)


def test_no_common_form_is_refused(rows):
    with pytest.raises(byz.RefusedError) as refused:
        byz.aggregate([rows[0], rows[1].reshape(5, 10), rows[2].reshape(10, 5)], "median", 0)
    assert len(refused.value.verdicts) == 3
    for nothing in ([], [None, None]):
        with pytest.raises(byz.RefusedError, match="no valid message"):
            byz.aggregate(nothing, tolerance=1)


@pytest.mark.parametrize("wrong", [3, "text", np.ones((3, 2), int), np.ones((3, 2), complex), [np.ones(2, int)] * 4, object()])
def test_what_is_no_message_at_all_is_a_type_error(wrong):
    with pytest.raises(TypeError):
        byz.aggregate(wrong, tolerance=1)


def test_a_single_row_is_a_value_error(rows):
    with pytest.raises(ValueError, match="one row per worker"):
        byz.aggregate(rows[0])


def test_no_coordinates_at_all():
    assert byz.aggregate(np.zeros((5, 0)), "median", 1).shape == (0,)
