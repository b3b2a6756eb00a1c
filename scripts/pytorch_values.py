"""Expected values of the MNIST models, made with PyTorch in double precision.

    python scripts/pytorch_values.py > crates/byz/tests/suite/golden/pytorch_mnist.json

Needs torch and numpy (made with torch 1.12.1, CPU). Images, labels and parameters are given by formulas, so the file holds only results. Dropout
masks are drawn by the library's own generator, written here once more from its definition (Philox4x32-10).
"""

import json

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED, WORKER, ROUND, SHIFT = 3, 2, 7, 3
EXAMPLES = [4, 0, 17, 30, 9]
MASK64 = (1 << 64) - 1


def images(count, phase):
    k = np.arange(count * 784, dtype=np.int64)
    pixels = (k * k // 7 + 13 * k + phase) % 256
    labels = [(3 * k + k // 10 + phase) % 10 for k in range(count)]
    return torch.tensor((pixels / 255 - 0.1307) / 0.3081).reshape(count, 1, 28, 28), torch.tensor(labels)


def wave(count, phase):
    k = np.arange(count, dtype=np.int64)
    return np.sin((k * k + 3 * k).astype(np.float64) * 0.37 + 1.7 * phase)


def fill(model):
    """Each tensor is a wave whose phase is its position, in ±1/√fan_in."""
    for phase, tensor in enumerate(model.parameters()):
        if tensor.dim() > 1:
            bound = 1 / np.sqrt(tensor[0].numel())
        tensor.data = torch.tensor(bound * wave(tensor.numel(), phase)).reshape(tensor.shape)
    return model


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK64
    return z ^ z >> 31


def stream(seed, purpose, worker, round):
    """64-bit numbers of one stream."""
    name = 0xCBF29CE484222325
    for byte in purpose.encode():
        name = (name ^ byte) * 0x100000001B3 & MASK64
    key = mix(seed ^ mix(name))
    position = 0
    while True:
        c, k = [position & 0xFFFFFFFF, position >> 32, worker, round], [key & 0xFFFFFFFF, key >> 32]
        for _ in range(10):
            left, right = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
            c = [right >> 32 ^ c[1] ^ k[0], right & 0xFFFFFFFF, left >> 32 ^ c[3] ^ k[1], left & 0xFFFFFFFF]
            k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
        yield c[0] << 32 | c[1]
        yield c[2] << 32 | c[3]
        position += 1


def mask(rate, units, layer, worker, round):
    """One factor per unit, four units per number of the stream."""
    numbers, factors = stream(SEED, layer, worker, round), []
    while len(factors) < units:
        bits = next(numbers)
        factors += [0.0 if (bits >> 16 * k & 0xFFFF) < rate * 65536 else 1 / (1 - rate) for k in range(4)]
    return torch.tensor(factors[:units], dtype=torch.float64)


class Logistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(784, 10)

    def forward(self, x):
        return self.fc(x.flatten(1))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 128), nn.Linear(128, 64), nn.Linear(64, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Cnn(nn.Module):
    def __init__(self, unit, frozen):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)
        self.unit, self.key = unit, (0, 0) if frozen else (WORKER, ROUND)

    def forward(self, x):
        x = F.max_pool2d(self.conv2(F.relu(self.conv1(x))), 2)
        if self.training:
            shape = x.shape if self.unit == "element" else x.shape[:2] + (1, 1)
            x = x * mask(0.25, int(np.prod(shape)), "dropout1", *self.key).reshape(shape)
        x = F.relu(self.fc1(x.flatten(1)))
        if self.training:
            x = x * mask(0.5, x.numel(), "dropout2", *self.key).reshape(x.shape)
        return self.fc2(x)


def tensor_values(gradient):
    flat = gradient.flatten()
    places = [0, 1, len(flat) // 3, len(flat) // 2, len(flat) - 1]
    at = {str(place): flat[place].item() for place in places}
    return {"sum": flat.sum().item(), "norm": flat.norm().item(), "at": at}


def case(name, model):
    model = fill(model.double())
    pixels, labels = images(40, 0)
    loss = F.cross_entropy(model.train()(pixels[EXAMPLES]), (labels[EXAMPLES] + SHIFT) % 10)
    loss.backward()
    pixels, labels = images(24, 5)
    order = torch.tensor(sorted(range(24), key=lambda k: labels[k].item())[:20])
    with torch.no_grad():
        logits = model.eval()(pixels[order])
    right = (logits.argmax(1) == labels[order]).double().mean()
    return {
        "model": name,
        "parameters": sum(tensor.numel() for tensor in model.parameters()),
        "loss": loss.item(),
        "test_loss": F.cross_entropy(logits, labels[order]).item(),
        "test_accuracy": 100 * right.item(),
        "gradient": {key: tensor_values(tensor.grad) for key, tensor in model.named_parameters()},
    }


def main():
    # Dropout2d on a matrix drops each number, not rows: what `dropout = channel` does on the hidden layer.
    dropped = nn.Dropout2d(0.5)(torch.ones(64, 128)) == 0
    assert dropped.any(1).all() and not dropped.all(1).any()
    cases = [
        case("logistic", Logistic()),
        case("mnist_mlp", Mlp()),
        case("mnist_cnn(dropout=channel,masks=fresh)", Cnn("channel", frozen=False)),
        case("mnist_cnn(dropout=element,masks=frozen)", Cnn("element", frozen=True)),
    ]
    print(json.dumps({"made_with": f"scripts/pytorch_values.py, torch {torch.__version__}", "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
