"""Side by side with ByzFL itself on finite input, and where it breaks."""

import warnings

import numpy as np
import pytest

import byz
import byz.compat.byzfl as ours

torch = pytest.importorskip("torch", reason="torch is not installed")
theirs = pytest.importorskip("byzfl", reason="byzfl is not installed")

RULES = [
    ("Average", {}),
    ("Median", {}),
    ("TrMean", {"f": 0}),
    ("TrMean", {"f": 3}),
    ("GeometricMedian", {}),
    ("GeometricMedian", {"nu": 0.5, "T": 8}),
    ("GeometricMedian", {"T": 0}),
    ("Krum", {"f": 3}),
    ("Krum", {}),
    ("MultiKrum", {"f": 3}),
    ("CenteredClipping", {}),
    ("CenteredClipping", {"L": 3, "tau": 0.7}),
    ("CenteredClipping", {"L": 0}),
    ("MDA", {"f": 2}),
    ("MoNNA", {"f": 3, "idx": 4}),
    ("Meamed", {"f": 3}),
    ("NNM", {"f": 3}),
    ("NNM", {"f": 0}),
    ("Bucketing", {"s": 3}),
    ("Bucketing", {}),
    ("Clipping", {}),
    ("Clipping", {"c": 0.5}),
    ("ARC", {"f": 3}),
    ("ARC", {}),
    ("SignFlipping", {}),
    ("InnerProductManipulation", {"tau": 1.5}),
    ("ALittleIsEnough", {}),
    ("ALittleIsEnough", {"tau": -0.5}),
    ("Mimic", {"epsilon": 2}),
    ("Inf", {}),
    ("Gaussian", {"mu": 1.0, "sigma": 2.0}),
    ("LabelFlipping", {}),
]


def inputs(n=11, d=23):
    random = np.random.default_rng(n * d)
    array = random.normal(size=(n, d)) + random.normal(size=d)
    single = torch.from_numpy(array.astype(np.float32))
    return {
        "array": array,
        "array of float32": array.astype(np.float32),
        "list of arrays": list(array),
        "tensor": single,
        "list of tensors": list(single),
    }


def copied(vectors):
    if isinstance(vectors, list):
        return [copied(vector) for vector in vectors]
    return vectors.copy() if isinstance(vectors, np.ndarray) else vectors.clone()


def call(library, name, parameters, vectors, rounds=1):
    np.random.seed(5)
    torch.manual_seed(5)
    made = getattr(library, name)(**parameters)
    for _ in range(rounds):
        result = made(copied(vectors))
    return result


@pytest.mark.parametrize("kind", inputs())
@pytest.mark.parametrize("name, parameters", RULES, ids=lambda value: value if isinstance(value, str) else str(value))
def test_the_same_results_in_the_same_containers(name, parameters, kind):
    vectors = inputs()[kind]
    expected, found = [call(library, name, parameters, vectors) for library in (theirs, ours)]
    assert type(found) is type(expected) and found.shape == expected.shape
    assert found.dtype == expected.dtype
    tolerance = 1e-5 if "32" in str(expected.dtype) else 1e-12
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["Optimal_InnerProductManipulation", "Optimal_ALittleIsEnough"])
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_line_searches_find_the_same(name, kind):
    for arguments in ({}, {"f": 3, "evals": 12, "start": 0.5, "delta": 2.0, "ratio": 0.7}):
        vectors = inputs()[kind]
        expected, found = [call(library, name, arguments, vectors) for library in (theirs, ours)]
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)
    expected, found = [
        getattr(library, name)(agg=library.TrMean(f=3), pre_agg_list=[library.NNM(f=3)], f=3)(vectors) for library in (theirs, ours)
    ]
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_centred_clipping_goes_on_from_its_last_aggregate():
    vectors = inputs()["tensor"]
    expected, found = [call(library, "CenteredClipping", {"tau": 0.3}, vectors, rounds=4) for library in (theirs, ours)]
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 40])
def test_any_number_of_vectors(n):
    vectors, f = inputs(n, 9)["array"], (n - 1) // 2
    for name in ("Median", "TrMean", "Krum", "MultiKrum", "Meamed", "NNM", "ARC"):
        parameters = {} if name == "Median" else {"f": f}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = call(theirs, name, parameters, vectors)
        assert np.allclose(call(ours, name, parameters, vectors), expected, atol=1e-12), (name, f)


WRONG = [
    ("TrMean", {"f": -1}),
    ("TrMean", {"f": 1.5}),
    ("GeometricMedian", {"nu": 1}),
    ("GeometricMedian", {"T": -1}),
    ("CenteredClipping", {"L": 1.0}),
    ("CenteredClipping", {"tau": 1}),
    ("MoNNA", {"idx": -1}),
    ("Bucketing", {"s": 0}),
    ("Clipping", {"c": 1}),
    ("InnerProductManipulation", {"tau": 1}),
    ("ALittleIsEnough", {"tau": "x"}),
    ("Mimic", {"epsilon": -1}),
    ("Gaussian", {"mu": 1}),
    ("Gaussian", {"sigma": -1.0}),
    ("Optimal_ALittleIsEnough", {"evals": 0}),
    ("Optimal_ALittleIsEnough", {"delta": 0.0}),
    ("Optimal_InnerProductManipulation", {"ratio": 0.5}),
]


@pytest.mark.parametrize("name, parameters", WRONG)
def test_wrong_parameters_raise_the_same_kind_of_error(name, parameters):
    raised = []
    for library in (theirs, ours):
        with pytest.raises(Exception) as problem:
            getattr(library, name)(**parameters)
        raised.append(problem.type)
    assert raised[0] is raised[1]


@pytest.mark.parametrize("name", ["TrMean", "Krum", "MultiKrum", "MDA", "MoNNA", "Meamed", "CAF", "SMEA"])
def test_too_many_liars_raise_the_same_kind_of_error(name):
    for library in (theirs, ours):
        with pytest.raises(ValueError):
            getattr(library, name)(f=6)(inputs()["array"])


@pytest.mark.parametrize("wrong", ["v", "vectors", {}, {"a": np.ones(3)}, set(), {1, 2, 3}, None, 3, (np.ones(3),) * 9, [None] * 9, ["row"] * 9])
@pytest.mark.parametrize("name", ["Average", "TrMean", "Krum", "MultiKrum", "MDA", "MoNNA", "Meamed", "CAF", "SMEA", "NNM", "ARC", "Clipping"])
def test_what_is_no_container_of_vectors_is_a_type_error(name, wrong):
    for library in (theirs, ours):
        # However many there seem to be: more than f allows, or fewer.
        for parameters in ({},) if name in ("Average", "Clipping") else ({}, {"f": 1}, {"f": 4}):
            with pytest.raises(TypeError):
                getattr(library, name)(**parameters)(wrong)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("name", ["Average", "TrMean", "Krum", "NNM", "ARC", "Bucketing", "CenteredClipping", "SignFlipping", "Gaussian"])
def test_tensors_without_rows_or_numbers_are_a_type_error(name):
    from torch._subclasses.fake_tensor import FakeTensorMode

    nested = torch.nested.nested_tensor([torch.ones(4)] * 5)
    for wrong in (nested, [nested] * 5):
        with pytest.raises(TypeError):
            getattr(ours, name)()(wrong)
    with FakeTensorMode():
        fake = torch.ones(5, 4)
    if name not in ("Bucketing", "Gaussian"):
        with pytest.raises(TypeError):
            getattr(ours, name)()(fake)


def test_eigenvalue_rules_agree_where_liars_stand_out():
    # ByzFL takes one random power step, so only a clear case is comparable.
    vectors = inputs(9, 6)["array"].copy()
    vectors[7:] += 1000.0
    np.random.seed(0)
    assert np.allclose(ours.SMEA(f=2)(vectors), theirs.SMEA(f=2)(vectors), atol=1e-9)
    assert np.linalg.norm(ours.CAF(f=2)(vectors) - vectors[:7].mean(axis=0)) < 2.0


BREAKING = ["Median", "Krum", "MultiKrum", "GeometricMedian", "Meamed", "CenteredClipping", "TrMean", "CAF", "MDA", "SMEA"]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("name", BREAKING)
def test_where_byzfl_breaks_ours_is_near_the_honest_vectors(name, value):
    vectors = inputs(9, 6)["array"].copy()
    vectors[8] = value
    honest = vectors[:8].mean(axis=0)
    parameters = {} if name in ("Median", "GeometricMedian", "CenteredClipping") else {"f": 2}
    for kind in (vectors, torch.from_numpy(vectors.astype(np.float32)), list(vectors)):
        found = np.asarray(getattr(ours, name)(**parameters)(kind))
        assert np.linalg.norm(found - honest) < (20.0 if name == "CenteredClipping" else 4.0)


def test_input_is_not_modified_and_double_stays_double():
    vectors = inputs()["array"]
    for made in (ours.Clipping(c=0.1), ours.ARC(f=3)):
        before = vectors.copy()
        made(vectors)
        assert np.array_equal(vectors, before)
    double = torch.from_numpy(vectors)
    assert ours.Median()(double).dtype == torch.float64 and theirs.Median()(double).dtype == torch.float32
    for name in ("CAF", "SMEA"):
        made = getattr(ours, name)(f=2)
        assert np.array_equal(made(vectors), made(vectors))
    assert np.array_equal(ours.CAF()(np.ones((4, 3))), np.ones(3))


def test_one_refuses_rather_than_guess():
    vectors = inputs()["array"]
    vectors[:6] = np.nan
    with pytest.raises(byz.RefusedError):
        ours.Median()(vectors)


@pytest.mark.parametrize("name", ["Krum", "MultiKrum", "TrMean", "Average"])
def test_a_single_vector_is_itself_or_refused(name):
    for row in (np.array([[-0.0, 5e-324, 1e30]]), [np.array([1.0, 2.0])], torch.tensor([[0.1, 2.0]]), [torch.tensor([0.1])]):
        found = getattr(ours, name)()(row)
        assert type(found) is type(row[0]) and agree(found, row[0], tolerance=0)
    for bad in (np.nan, np.inf):
        for row in (np.array([[bad, 1.0]]), [np.array([bad])], torch.tensor([[bad]])):
            with pytest.raises(byz.RefusedError):
                getattr(ours, name)()(row)


@pytest.mark.parametrize("odd", [None, "row", np.ones(4), np.ones((3, 1)), np.ones(3, complex)], ids=["none", "text", "longer", "shape", "complex"])
@pytest.mark.parametrize("of_tensors", [False, True])
def test_rows_of_another_form_are_left_out_or_told(odd, of_tensors):
    honest = list(inputs(8, 3)["list of tensors" if of_tensors else "list of arrays"])
    odd = torch.from_numpy(odd) if of_tensors and isinstance(odd, np.ndarray) else odd
    vectors = [*honest[:3], odd, *honest[3:]]
    for made in (ours.NNM(2), ours.NNM(6), ours.ARC(2), ours.ARC(6), ours.Clipping(), ours.Clipping(0.0), ours.Bucketing(), ours.TrMean(2)):
        found = made(vectors)
        assert type(found) is type(honest[0]) and found.shape in ((8, 3), (3,)) and bool((abs(found) < 100).all())
    for made in (ours.SignFlipping(), ours.ALittleIsEnough(), ours.Inf(), ours.Gaussian(), ours.Optimal_ALittleIsEnough()):
        with pytest.raises(ValueError, match="of one form"):
            made(vectors)
    if odd is not None:
        for made in (ours.NNM(0), ours.ARC(0)):
            with pytest.raises(byz.RefusedError):
                made(vectors)


def test_the_first_row_may_be_the_one_of_another_form():
    vectors = [np.ones(4), *np.ones((8, 3))]
    for made in (ours.CenteredClipping(), ours.GeometricMedian(T=0), ours.NNM(2), ours.ARC(7), ours.Bucketing(2)):
        assert made(vectors).shape[-1] == 3


def test_infinity_for_numbers_without_axes():
    compared("Inf", {}, [np.array(1.0)] * 7)
    assert ours.Inf()([torch.tensor(1.0)] * 7) == torch.inf


def agree(found, expected, tolerance=1e-5):
    if isinstance(expected, torch.Tensor):
        assert isinstance(found, torch.Tensor)
        found, expected = found.detach().double().numpy(), expected.detach().double().numpy()
    assert found.shape == expected.shape
    return np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def compared(name, parameters, vectors):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = [call(library, name, parameters, vectors) for library in (theirs, ours)]
    assert agree(found, expected), (name, parameters)
    return found


SEVERAL_AXES = ["Average", "Median", "SignFlipping", "InnerProductManipulation", "ALittleIsEnough", "Clipping", "ARC", "Inf", "Mimic"]


@pytest.mark.parametrize("name", [*SEVERAL_AXES, "TrMean", "LabelFlipping"])
def test_vectors_of_several_axes_keep_them(name):
    vectors = inputs(7, 4)["array"].reshape(7, 2, 2)
    for same in (vectors, list(vectors), torch.from_numpy(vectors).float(), list(torch.from_numpy(vectors).float())):
        compared(name, {"f": 2} if name in ("ARC", "TrMean") else {}, same)


@pytest.mark.parametrize("name", ["Optimal_InnerProductManipulation", "Optimal_ALittleIsEnough"])
def test_line_searches_take_several_axes(name):
    vectors = inputs(7, 4)["array"].reshape(7, 2, 2)
    for same in (vectors, torch.from_numpy(vectors).float()):
        compared(name, {"f": 2}, same)


@pytest.mark.parametrize(
    "name, parameter",
    [
        ("GeometricMedian", "nu"),
        ("CenteredClipping", "tau"),
        ("Clipping", "c"),
        ("InnerProductManipulation", "tau"),
        ("ALittleIsEnough", "tau"),
        ("Optimal_ALittleIsEnough", "delta"),
    ],
)
def test_floats_of_numpy_are_floats(name, parameter):
    compared(name, {parameter: np.float64(0.5)}, inputs()["array"])


NUMBERS = [(name, parameters) for name, parameters in RULES if name not in ("Inf", "Gaussian", "Meamed")]


@pytest.mark.parametrize("name, parameters", NUMBERS, ids=lambda value: value if isinstance(value, str) else str(value))
def test_lists_of_mixed_types_are_promoted(name, parameters):
    array = inputs()["array"]
    whole = np.round(10 * array).astype(np.int64)
    tensors = torch.from_numpy(array).float()
    for mixed in (
        [array[0].astype(np.float32), *array[1:]],
        [*array.astype(np.float32)[:-1], array[-1]],
        [*array[:-1], whole[-1]],
        [*tensors[:-1], torch.from_numpy(whole[-1])],
        [tensors[0].half(), *tensors[1:]],
    ):
        compared(name, parameters, mixed)


@pytest.mark.parametrize("name, parameters", NUMBERS, ids=lambda value: value if isinstance(value, str) else str(value))
def test_tensors_of_any_type_are_taken(name, parameters):
    array = inputs()["array"]
    # No two distances are the same, so that nothing hangs on a tie.
    whole = torch.from_numpy(np.round(1000 * array).astype(np.int64))
    for vectors in (whole, list(whole)):
        compared(name, parameters, vectors)
    for vectors in (torch.from_numpy(array).float().requires_grad_(), [row.requires_grad_() for row in torch.from_numpy(array).float()]):
        compared(name, parameters, vectors)
    for dtype in (torch.bfloat16, torch.float16):
        found = call(ours, name, parameters, torch.from_numpy(array).to(dtype), rounds=2)
        assert found.dtype == dtype and torch.isfinite(found).all()


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_pre_aggregators_work_with_a_majority_of_liars(n):
    array = inputs(n, 5)["array"]
    for f in range((n + 1) // 2, n + 1):
        for vectors in (array, list(array), torch.from_numpy(array).float()):
            compared("ARC", {"f": f}, vectors)
            if f < n:
                compared("NNM", {"f": f}, vectors)
    for made in (ours.ARC(n), *([ours.NNM(n - 1)] if n > 1 else [])):
        before = array.copy()
        made(array)
        assert np.array_equal(array, before)


def test_infinite_parameters():
    for kind in ("array", "tensor"):
        vectors = inputs()[kind]
        compared("Clipping", {"c": np.inf}, vectors)
        compared("CenteredClipping", {"tau": np.inf, "L": 2}, vectors)
        compared("InnerProductManipulation", {"tau": np.inf}, vectors)
        compared("InnerProductManipulation", {"tau": -np.inf}, vectors)
    refused = [("GeometricMedian", {"nu": np.inf}), ("ALittleIsEnough", {"tau": np.inf}), ("CenteredClipping", {"tau": np.nan})]
    for name, parameters in refused:
        with pytest.raises(ValueError, match="finite number"):
            getattr(ours, name)(**parameters)(vectors)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "name, parameters", [("Clipping", {}), ("Clipping", {"c": 0.0}), ("Clipping", {"c": np.inf}), ("Bucketing", {"s": 2})]
)
def test_pre_aggregators_without_f_leave_out_what_is_not_finite(name, parameters, bad):
    vectors = np.ones((9, 3))
    vectors[8] = bad
    for same in (vectors, list(vectors), torch.from_numpy(vectors)):
        assert agree(call(ours, name, parameters, same), call(ours, name, parameters, same[:8]))
    vectors[4:] = bad
    with pytest.raises(byz.RefusedError):
        call(ours, name, parameters, vectors)


def test_the_first_vector_may_be_the_bad_one():
    vectors = inputs()["array"]
    vectors[0] = np.nan
    for name, parameters in (("CenteredClipping", {}), ("GeometricMedian", {"T": 0}), ("NNM", {"f": 6}), ("ARC", {"f": 6})):
        assert np.isfinite(call(ours, name, parameters, vectors)).all()


def test_no_vectors_are_a_value_error():
    for name in ("Average", "CenteredClipping", "Krum", "Clipping", "ARC", "Bucketing", "SignFlipping", "Inf", "Mimic", "Gaussian"):
        for nothing in ([], np.ones(3), np.ones((0, 3))) if name != "Mimic" else ([],):
            with pytest.raises(ValueError):
                getattr(ours, name)()(nothing)


@pytest.mark.parametrize("name", ["Krum", "MDA", "CAF", "SMEA", "Meamed", "GeometricMedian", "NNM", "ARC", "SignFlipping", "Optimal_ALittleIsEnough"])
@pytest.mark.parametrize("f", [1, 600_000])
def test_a_transposed_matrix_is_a_value_error(name, f):
    swapped = np.zeros((20, 1_000_000), np.float32).T
    made = getattr(ours, name)(**({} if name in ("GeometricMedian", "SignFlipping") else {"f": f}))
    for same in (swapped, torch.from_numpy(swapped), list(np.zeros((10_001, 2)))):
        with pytest.raises(ValueError):
            made(same)


@pytest.mark.parametrize("name", ["Optimal_InnerProductManipulation", "Optimal_ALittleIsEnough"])
def test_more_liars_than_memory_holds_are_a_value_error(name):
    for kind in ("array", "tensor"):
        with pytest.raises(ValueError, match="f=10000000000000 with 11 honest workers are more than 10000"):
            getattr(ours, name)(f=10**13)(inputs()[kind])
