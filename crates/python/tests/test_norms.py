"""The spectral step of the optimiser for PyTorch."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402

from byz.torch import ByzNSGDM  # noqa: E402


def test_newton_schulz_makes_singular_values_near_one():
    weight = nn.Parameter(torch.zeros(6, 4))
    optimizer = ByzNSGDM([weight], workers=3, tolerance=0, rule="mean", lr=1.0, norm="spectral", spectral_steps=5)
    torch.manual_seed(0)
    optimizer.step(torch.randn(24).expand(3, 24))
    values = torch.linalg.svdvals(weight.detach())
    assert 0.6 < values.min() and values.max() < 1.3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("spectral_steps", [None, 5])
def test_directions_of_zero_singular_value_stay_zero(dtype, spectral_steps):
    weight, kernel = nn.Parameter(torch.zeros(6, 4, dtype=dtype)), nn.Parameter(torch.zeros(5, 2, 3, 3, dtype=dtype))
    settings = {"rule": "mean", "lr": 1.0, "norm": "spectral", "spectral_steps": spectral_steps}
    optimizer = ByzNSGDM([weight, kernel], workers=3, tolerance=0, **settings)
    torch.manual_seed(0)
    # Of rank two, with units that are dead; and of rank one.
    two = torch.randn(6, 2, dtype=dtype) @ torch.randn(2, 4, dtype=dtype)
    two[:3], two[:, 1] = 0, 0
    one = torch.outer(torch.randn(5, dtype=dtype), torch.randn(18, dtype=dtype))
    optimizer.step(torch.cat([two.flatten(), one.flatten()]).expand(3, 114))
    for moved, rank in ((weight.detach(), 2), (kernel.detach().reshape(5, 18), 1)):
        values = torch.linalg.svdvals(moved)
        assert 0.6 < values[rank - 1] and values[0] < 1.3 and values[rank:].max() < 1e-4
    assert weight[:3].abs().max() < 1e-6 and weight[:, 1].abs().max() < 1e-6
