"""Every container gives the same bits, and comes back as it was."""

import array
from collections import OrderedDict

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


def test_an_empty_axis_keeps_its_place():
    assert byz.aggregate(np.zeros((5, 0, 3)), "median", 1).shape == (0, 3)
    with pytest.raises(byz.RefusedError, match="no valid message"):
        byz.aggregate(np.zeros((0, 2, 3)), "median", 1)


def test_mixed_rows_are_of_the_kind_of_the_messages(rows):
    expected = byz.mix(rows, "nnm", 3)
    assert isinstance(expected, np.ndarray) and expected.shape == (20, 50) and expected.dtype == np.float32
    assert np.array_equal(byz.mix(rows.reshape(20, 5, 10), "nnm", 3), expected.reshape(20, 5, 10))
    listed = byz.mix(list(rows), "nnm", 3)
    assert isinstance(listed, list) and np.array_equal(listed, expected)
    parts = byz.mix([[row[:20].reshape(4, 5), row[20:]] for row in rows], "nnm", 3)
    assert parts[19][0].shape == (4, 5) and np.array_equal(parts[19][1], expected[19, 20:])
    mixed, verdicts = byz.mix([*rows[:19], None], "bucketing(size=2)", 3, explain=True)
    assert len(mixed) == 10 and verdicts == ["used"] * 19 + ["missing"]


def test_mixed_tensors_are_tensors(rows):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.from_numpy(rows)
    mixed = byz.mix(tensor, "nnm", 3)
    assert isinstance(mixed, torch.Tensor) and np.array_equal(mixed, byz.mix(rows, "nnm", 3))
    assert torch.equal(torch.stack(byz.mix(list(tensor), "nnm", 3)), mixed)


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries_are_read(rows, expected):
    for same in (OnlyDlpack(rows), memoryview(rows), [OnlyDlpack(row) for row in rows], [memoryview(row) for row in rows]):
        assert np.array_equal(byz.aggregate(same), expected)
    assert np.array_equal(byz.aggregate([array.array("f", row) for row in rows]), expected)
    doubles = byz.aggregate([array.array("d", row) for row in rows])
    assert doubles.dtype == np.float64
    for wrong in (memoryview(rows.astype(int)), [array.array("i", [1, 2])] * 5, b"bytes", [b"bytes"] * 5):
        with pytest.raises(TypeError):
            byz.aggregate(wrong, tolerance=1)


def test_a_mask_is_not_dropped(rows, expected):
    masked = np.ma.masked_array(rows, mask=rows > 1)
    for wrong in (masked, list(masked), [[row] for row in masked]):
        with pytest.raises(TypeError, match="fill it first"):
            byz.aggregate(wrong)
    told = byz.aggregate([*rows[:19], masked[19]], explain=True)
    assert told.verdicts[19].startswith("invalid: a masked array")


class Raises:
    def __array__(self, *arguments, **options):
        raise RuntimeError("no \ud800\nvalues")


def test_no_message_ends_the_call(rows):
    endless = []
    endless.append(endless)
    for liar in (Raises(), [Raises()], endless, [[[1.0], "text"]], {"w": None}, object(), 10**400):
        told = byz.aggregate([*rows[:19], liar], explain=True)
        assert told.verdicts[19].startswith("invalid: ") and told.messages == 19
    told = byz.aggregate([*rows[:19], Raises()], explain=True)
    assert told.verdicts[19] == "invalid: reading it raised RuntimeError: no ?"
    with pytest.raises(TypeError, match="RuntimeError"):
        byz.aggregate([Raises()] * 5, tolerance=1)


@pytest.mark.parametrize("size", [50, 5000])
def test_no_tensor_ends_the_call(size):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    honest = list(torch.randn(8, size))
    turned = torch.complex(torch.randn(5, size), torch.randn(5, size)).conj().imag
    for liar in (torch.empty(size, device="meta"), turned, honest[0].to_sparse(), honest[0].to(torch.complex64)):
        told = byz.aggregate([*honest, liar], tolerance=2, explain=True)
        assert told.verdicts[8].startswith("invalid: ") and told.messages == 8
    with pytest.raises(TypeError, match="no values"):
        byz.aggregate(torch.empty(5, 3, device="meta"), tolerance=1)


def test_tensors_with_their_sign_turned_are_read():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    turned = torch.complex(torch.randn(5, 3), torch.randn(5, 3)).conj().imag
    assert turned.is_neg()
    plain = turned.resolve_neg()
    for same in (turned, list(turned), [row.reshape(1, 3) for row in turned]):
        assert torch.equal(byz.aggregate(same, "median", 1).reshape(3), byz.aggregate(plain, "median", 1))


def test_containers_in_containers_come_back_as_they_were(rows):
    nested = byz.aggregate([{"layers": [[row[:20]], (row[20:30],)], "b": row[30:]} for row in rows], "median")
    flat = byz.aggregate(rows, "median")
    assert list(nested) == ["layers", "b"] and np.array_equal(nested["b"], flat[30:])
    assert np.array_equal(nested["layers"][0][0], flat[:20]) and np.array_equal(nested["layers"][1][0], flat[20:30])
    torch = pytest.importorskip("torch", reason="torch is not installed")
    [[tensor]] = byz.aggregate([[[torch.ones(2)]]] * 5, "median", 1)
    assert torch.equal(tensor, torch.ones(2))


def test_the_order_of_keys_does_not_matter(rows):
    messages = [{"w": row[:20], "in": {"b": row[20:30], "c": row[30:]}} for row in rows]
    expected = byz.aggregate(messages)
    turned = [{"in": {"c": row[30:], "b": row[20:30]}, "w": row[:20]} for row in rows]
    told = byz.aggregate([turned[0], *messages[1:12], *turned[12:]], explain=True)
    assert told.verdicts == ["used"] * 20 and list(told.vector) == ["w", "in"] and list(told.vector["in"]) == ["b", "c"]
    assert np.array_equal(told.vector["w"], expected["w"]) and np.array_equal(told.vector["in"]["c"], expected["in"]["c"])


def test_a_remembered_centre_finds_its_coordinates_again(rows):
    messages = [{"w": row[:20], "b": row[20:]} for row in rows]
    liar = {"b": rows[0, 20:], "w": rows[0, :20]}
    plain, lied_to = (byz.Defense("centered_clipping(radius=0.1)", 1) for _ in range(2))
    for first in (messages[0], liar, messages[0]):
        expected, found = plain(messages), lied_to([first, *messages[1:]])
    assert np.array_equal(found["w"], expected["w"]) and np.array_equal(found["b"], expected["b"])


def test_a_verdict_names_the_entry_that_is_wrong(rows):
    messages = [{"w": row[:20], "b": row[20:], "more": [row[:5], row[5:7]]} for row in rows]
    names = [f"{k}\n" * 50 for k in range(9)]
    for liar, verdict in (
        ({"w": rows[0], "c": rows[0], "b": rows[0]}, "keys missing 'more', unknown 'c'"),
        ({**messages[0], **dict.fromkeys(names, rows[0])}, None),
        ({**messages[0], "b": rows[0]}, "entry ['b']: float32 of shape (50,), expected float32 of shape (30,)"),
        ({**messages[0], "more": [rows[0, :5], rows[0]]}, "entry ['more'][1]: float32 of shape (50,), expected float32 of shape (2,)"),
        ({**messages[0], "more": {"x": rows[0]}}, "entry ['more']: dict of float32 of shape (50,), expected list of "),
        ({**messages[0], "b": "text"}, "entry ['b']: expected an array of floats, got str"),
    ):
        [*used, found] = byz.aggregate([*messages[1:], liar], explain=True).verdicts
        assert set(used) == {"used"} and found.startswith(f"invalid: {verdict or 'keys unknown '}") and len(found) < 400
        assert verdict is not None or found.endswith("and 5 more")


def test_integers_in_a_state_dict_are_told_by_name_with_what_to_do():
    with pytest.raises(TypeError, match=r"entry \['count'\]: expected float16, .*, got int64; convert it first, or leave it out of all messages"):
        byz.aggregate([{"w": np.ones(2), "count": np.array(3)}] * 5, "median", 1)
    torch = pytest.importorskip("torch", reason="torch is not installed")
    state = torch.nn.BatchNorm1d(3).state_dict()
    with pytest.raises(TypeError, match=r"\['num_batches_tracked'\]: .*got int64.*leave it out"):
        byz.aggregate([state] * 5, "median", 1)
    del state["num_batches_tracked"]
    found = byz.aggregate([state] * 5, "median", 1)
    assert type(found) is OrderedDict and list(found) == list(state) and torch.equal(found["weight"], state["weight"])


def test_tuples_and_ordered_dicts_come_back_as_such():
    ones = np.ones(2)
    found = byz.aggregate([(ones, OrderedDict(w=(ones,)), [ones])] * 4 + [[ones, {"w": [ones]}, (ones,)]], "median", 1)
    assert type(found) is tuple and type(found[1]) is OrderedDict and type(found[1]["w"]) is tuple and type(found[2]) is list


def test_numbers_without_axes_are_vectors_of_one():
    values = [1.0, 2.0, 4.0, 5.0, 90.0]
    assert byz.aggregate([np.array(value) for value in values], "median", 1) == 4.0
    torch = pytest.importorskip("torch", reason="torch is not installed")
    found = byz.aggregate([torch.tensor(value) for value in values], "median", 1)
    assert isinstance(found, torch.Tensor) and found.shape == () and found == 4.0


def test_counts_too_large_for_the_engine_are_value_errors(rows):
    for wrong in (2**64, 2**70):
        with pytest.raises(ValueError, match="tolerance must be below"):
            byz.aggregate(rows, tolerance=wrong)
        with pytest.raises(ValueError, match="tolerance must be below"):
            byz.mix(rows, "nnm", wrong)
        with pytest.raises(ValueError, match="threads must be"):
            byz.Defense("median", 1, threads=wrong)


def test_a_nested_tensor_is_a_verdict():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rows = list(torch.randn(7, 4))
    rows[3] = torch.nested.nested_tensor([torch.ones(4)])
    assert byz.aggregate(rows, "median", 2, explain=True).verdicts[3].startswith("invalid")


def test_a_class_with_half_a_character_in_its_name_is_a_verdict(rows):
    kind = type("Odd", (), {})
    kind.__qualname__ = "Odd\ud800"
    odd = kind()
    for messages in ([odd, *rows[1:]], [[odd], *([row] for row in rows[1:])], [{"w": odd}, *({"w": row} for row in rows[1:])]):
        verdict = byz.aggregate(messages, explain=True).verdicts[0]
        assert verdict.startswith("invalid: ") and "expected an array of floats, got " in verdict and "Odd?" in verdict
    for call in (lambda: byz.aggregate([odd] * 5), lambda: byz.aggregate(odd), lambda: byz.Attack("zero").forge([*rows, odd])):
        with pytest.raises((TypeError, ValueError)) as told:
            call()
        assert not isinstance(told.value, UnicodeError)


def transposed():
    swapped = np.zeros((20, 1_000_000), np.float32).T
    return [swapped, swapped.reshape(-1, 4, 5), list(np.zeros((10_001, 2))), [[1.0, 2.0]] * 10_001, np.zeros((10_001, 0))]


@pytest.mark.parametrize("kind", range(5))
def test_more_workers_than_anybody_has_are_refused_before_memory_is_taken(kind):
    vectors = transposed()[kind]
    for call in (byz.aggregate, lambda vectors: byz.mix(vectors, "nnm"), byz.Attack("zero").forge):
        with pytest.raises(ValueError, match=r"1\d+ (rows|messages) would be as many workers, more than 10000; is the matrix transposed\?"):
            call(vectors)


def test_as_many_workers_as_the_command_takes_are_taken():
    assert byz.aggregate(np.ones((10_000, 1)), "median", 3) == 1.0
