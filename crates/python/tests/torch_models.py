"""Small models, optimisers and what a step may change, for the tests with PyTorch."""

import torch
from torch import nn

from byz.torch import ByzNSGDM


def problem(seed=0):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    batches = [(torch.randn(16, 6), torch.randint(3, (16,))) for _ in range(10)]
    return model, nn.CrossEntropyLoss(), batches


def small(**settings):
    """51 parameters in two groups and 9 workers, after one step."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 3))
    groups = [{"params": layer.parameters()} for layer in model]
    optimizer = ByzNSGDM(groups, **{"workers": 9, "tolerance": 2, **settings})
    optimizer.step(torch.randn(9, 51))
    return model, optimizer


def everything(model, optimizer):
    """All that a step may change, as tensors and numbers."""
    state = optimizer.state_dict()
    numbers = [state["round"], state["defense"]["round"]]
    tensors = [*model.parameters(), state["momenta"], state["defense"]["center"]]
    return numbers, [tensor.detach().clone() for tensor in tensors if tensor is not None]


def assert_same(one, other):
    assert one[0] == other[0] and len(one[1]) == len(other[1])
    assert all(torch.equal(a, b) for a, b in zip(one[1], other[1], strict=True))
