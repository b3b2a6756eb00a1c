"""The gradients of all workers where `vmap` cannot compute them at once."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402

from byz.torch import per_worker_gradients  # noqa: E402

loss = nn.CrossEntropyLoss()


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.out = cell(5, 4, batch_first=True), nn.Linear(4, 3)

    def forward(self, inputs):
        return self.out(self.cell(inputs)[0][:, -1])


class Deciding(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(5, 3)

    def forward(self, inputs):
        return self.out(inputs[:, 0]) if inputs.sum().item() > 0 else -self.out(inputs[:, 1])


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(5, 3)
        self.register_buffer("seen", torch.zeros(5))

    def forward(self, inputs):
        with torch.no_grad():
            self.seen += inputs.mean(dim=(0, 1))
        return self.out(inputs[:, 0])


MODELS = {
    "gru": lambda: Recurrent(nn.GRU),
    "rnn": lambda: Recurrent(nn.RNN),
    "lstm": lambda: Recurrent(nn.LSTM),
    "item": Deciding,
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("even", [True, False])
def test_models_beyond_vmap_have_the_gradients_of_each_batch(name, even):
    torch.manual_seed(0)
    model = MODELS[name]()
    sizes = [6] * 4 if even else [6, 5, 6, 2]
    batches = [(torch.randn(size, 8, 5), torch.randint(3, (size,))) for size in sizes]
    rows, losses = per_worker_gradients(model, loss, batches, with_losses=True)
    for batch, row, value in zip(batches, rows, losses, strict=True):
        model.zero_grad()
        alone = loss(model(batch[0]), batch[1])
        alone.backward()
        assert torch.allclose(torch.cat([p.grad.reshape(-1) for p in model.parameters()]), row, atol=1e-6)
        assert torch.allclose(alone, value)


def test_what_is_wrong_with_the_model_itself_is_told_as_it_is():
    batches = [(torch.randn(6, 4), torch.randint(3, (6,))) for _ in range(3)]
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied") as told:
        per_worker_gradients(nn.Linear(5, 3), loss, batches)
    assert told.value.__context__ is None


@pytest.mark.parametrize("sizes", [[6, 6, 6], [6, 5, 4]])
def test_a_model_that_writes_to_its_buffers_is_refused_before_it_has(sizes):
    model = Counting()
    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        per_worker_gradients(model, loss, [(torch.randn(size, 8, 5), torch.randint(3, (size,))) for size in sizes])
    assert not model.seen.any()
