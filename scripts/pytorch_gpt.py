"""Makes crates/byz/src/tasks/char_gpt/pytorch.json: loss and gradient of small GPTs, by PyTorch's autograd in float64.

Written from the definition of the task, not from its Rust code. Parameter i is 0.2·sin(i + 1), plus one for LayerNorm gains, in
the order of the layout; targets are reversed (y becomes V − 1 − y) where a case says so. Run it with PyTorch 1.12 or later:

    python scripts/pytorch_gpt.py > crates/byz/src/tasks/char_gpt/pytorch.json
"""

import json
import math

import torch
import torch.nn.functional as F

TEXT = "Now is the winter of our discontent made glorious summer by this sun of York; " * 4


def parameters(layers, width, block, vocabulary):
    """All tensors in the order of the layout, as views of one vector."""
    shapes = [("tokens", (vocabulary, width)), ("positions", (block, width))]
    for layer in range(layers):
        for part, shape in [
            ("attention_norm", None),
            ("attention", (3 * width, width)),
            ("attention_projection", (width, width)),
            ("feed_forward_norm", None),
            ("feed_forward", (4 * width, width)),
            ("feed_forward_projection", (width, 4 * width)),
        ]:
            shapes.append((f"{layer}.{part}.weight", shape or (width,)))
            shapes.append((f"{layer}.{part}.bias", shape[:1] if shape else (width,)))
    shapes += [("norm.weight", (width,)), ("norm.bias", (width,))]
    count = sum(math.prod(shape) for _, shape in shapes)
    vector = 0.2 * torch.sin(torch.arange(1, count + 1, dtype=torch.float64))
    tensors, offset = {}, 0
    for name, shape in shapes:
        size = math.prod(shape)
        if name.endswith("norm.weight"):
            vector[offset : offset + size] += 1.0
        tensors[name] = (offset, shape)
        offset += size
    vector.requires_grad_(True)
    views = {name: vector[at : at + math.prod(shape)].view(shape) for name, (at, shape) in tensors.items()}
    return vector, views


def logits(p, x, layers, width, heads, gelu):
    def norm(name, h):
        return F.layer_norm(h, (width,), p[f"{name}.weight"], p[f"{name}.bias"])

    def linear(name, h):
        return F.linear(h, p[f"{name}.weight"], p[f"{name}.bias"])

    batch, block = x.shape
    h = p["tokens"][x] + p["positions"]
    future = torch.ones(block, block, dtype=torch.bool).triu(1)
    for layer in range(layers):
        qkv = linear(f"{layer}.attention", norm(f"{layer}.attention_norm", h))
        q, k, v = (
            part.view(batch, block, heads, width // heads).transpose(1, 2) for part in qkv.split(width, dim=2)
        )
        scores = (q @ k.transpose(2, 3) / math.sqrt(width // heads)).masked_fill(future, -math.inf)
        mixed = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, block, width)
        h = h + linear(f"{layer}.attention_projection", mixed)
        inner = F.gelu(
            linear(f"{layer}.feed_forward", norm(f"{layer}.feed_forward_norm", h)),
            approximate="tanh" if gelu == "tanh" else "none",
        )
        h = h + linear(f"{layer}.feed_forward_projection", inner)
    return F.linear(norm("norm", h), p["tokens"])


def case(layers, width, heads, block, gelu, reverse, examples):
    characters = sorted(set(TEXT))
    text = torch.tensor([characters.index(character) for character in TEXT])
    x = torch.stack([text[block * example : block * (example + 1)] for example in examples])
    y = torch.stack([text[block * example + 1 : block * (example + 1) + 1] for example in examples])
    if reverse:
        y = len(characters) - 1 - y
    vector, views = parameters(layers, width, block, len(characters))
    loss = F.cross_entropy(logits(views, x, layers, width, heads, gelu).flatten(0, 1), y.flatten())
    loss.backward()
    return {
        "layers": layers,
        "width": width,
        "heads": heads,
        "block": block,
        "gelu": gelu,
        "reverse": reverse,
        "examples": examples,
        "dimension": vector.numel(),
        "loss": loss.item(),
        "gradient_norm": vector.grad.norm().item(),
        "gradient": {str(i): vector.grad[i].item() for i in range(0, vector.numel(), vector.numel() // 37)},
    }


print(
    json.dumps(
        {
            "made_by": f"scripts/pytorch_gpt.py with PyTorch {torch.__version__}, float64",
            "text": TEXT,
            "cases": [
                case(2, 16, 2, 12, "erf", False, [0, 3, 7]),
                case(1, 12, 3, 20, "tanh", True, [2, 5]),
            ],
        },
        indent=1,
    )
)
