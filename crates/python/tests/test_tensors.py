"""Tensors of PyTorch as messages: they come back as they came, whatever they are and wherever they lie."""

import numpy as np
import pytest

import byz

torch = pytest.importorskip("torch", reason="torch is not installed")
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
