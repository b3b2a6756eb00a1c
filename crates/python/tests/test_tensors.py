"""Tensors of PyTorch as messages: they come back as they came, whatever they are and wherever they lie."""

import sys

import numpy as np
import pytest

import byz

torch = pytest.importorskip("torch", reason="torch is not installed")
from test_containers import OnlyDlpack  # noqa: E402
from torch import nn  # noqa: E402


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


class OfAnotherDevice(torch.Tensor):
    """A tensor that says of itself that it is elsewhere, as one on CUDA does; where there is none that is as near as a test comes."""

    device = torch.device("cuda", 0)

    def detach(self):
        return self

    def cpu(self):
        return self.as_subclass(torch.Tensor)


def test_tensors_of_another_device_are_copied_with_a_warning_once(monkeypatch, rows):
    from byz import arrays, containers

    monkeypatch.setattr(arrays, "_told_of_devices", False)
    sent = [torch.tensor(row).as_subclass(OfAnotherDevice) for row in rows]
    with pytest.warns(arrays.CopyWarning, match="tensors on cuda:0 are copied") as heard:
        read, form = containers.unpack(sent)
        again, _ = containers.unpack(sent)
    assert len(heard) == 1
    for one in (read, again):
        assert all(np.array_equal(np.concatenate([np.ravel(part) for part in got]), row) for got, row in zip(one, rows))


def test_one_bad_tensor_is_a_verdict():
    tensors = [torch.ones(3) for _ in range(6)] + [torch.ones(3, dtype=torch.int64)]
    told = byz.aggregate(tensors, "median", 1, explain=True)
    assert told.verdicts[6].startswith("invalid: expected a dense tensor of floats, got int64")


def test_bfloat16_by_dlpack_is_a_tensor_as_numpy_has_no_such_number(rows):
    tensor = torch.from_numpy(rows).bfloat16()
    expected = byz.aggregate(tensor)
    for same in (OnlyDlpack(tensor), [OnlyDlpack(row) for row in tensor], [OnlyDlpack(tensor[0]), *tensor[1:]]):
        found = byz.aggregate(same)
        assert found.dtype == torch.bfloat16 and torch.equal(found, expected)
    assert torch.equal(byz.mix(OnlyDlpack(tensor), "nnm"), byz.mix(tensor, "nnm"))
    assert torch.equal(byz.Attack("sign_flip(of=mean)").forge(OnlyDlpack(tensor)), byz.Attack("sign_flip(of=mean)").forge(tensor))
    assert isinstance(byz.aggregate(OnlyDlpack(tensor.float())), np.ndarray)


def test_bfloat16_by_dlpack_without_pytorch_is_told_with_what_to_do(monkeypatch, rows):
    tensor = OnlyDlpack(torch.from_numpy(rows).bfloat16())
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TypeError, match="vectors: .*PyTorch may read it, but is not installed: convert it to float32"):
        byz.aggregate(tensor)
    told = byz.aggregate([*rows, tensor], explain=True)
    assert told.verdicts[20].startswith("invalid: ") and told.verdicts[20].endswith("convert it to float32 on the CPU")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_without_rows_or_numbers_are_a_type_error():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(5, 4)
    nested = torch.nested.nested_tensor([torch.ones(4)] * 5)
    for wrong in (fake, list(fake), nested, [nested] * 5, [[nested]] * 5):
        for call in (byz.aggregate, lambda vectors: byz.mix(vectors, "nnm"), byz.Attack("zero").forge):
            with pytest.raises(TypeError, match="vectors: "):
                call(wrong)
    for first in (nested, fake[0]):
        told = byz.aggregate([first, *torch.ones(7, 4)], "median", 2, explain=True)
        assert told.verdicts[0].startswith("invalid: ") and told.verdicts[1:] == ["used"] * 7
