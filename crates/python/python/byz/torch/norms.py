"""The direction of a step: the one that is steepest in a norm."""

from __future__ import annotations

import torch
from torch import Tensor

NORMS = ("l2", "linf", "spectral")


def check_norm(norm: str) -> None:
    """Raises where there is no such norm."""
    if norm not in NORMS:
        raise ValueError(f"norm: expected one of {', '.join(NORMS)}, got {norm!r}")


def steepest(update: Tensor, shapes: list[torch.Size], norm: str, spectral_steps: int | None) -> list[Tensor]:
    """The direction of a parameter group, a tensor per parameter; zero where the aggregate is zero."""
    check_norm(norm)
    if norm == "l2":
        update = _normalized(update)
    parts = update.split([shape.numel() for shape in shapes])
    parts = [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]
    if norm == "linf":
        return [part.sign() for part in parts]
    if norm == "spectral":
        return [_orthogonal(part, spectral_steps) if part.ndim > 1 else _normalized(part) for part in parts]
    return parts


def _normalized(update: Tensor) -> Tensor:
    """Of length one; zero stays zero. The largest entry is taken out first, so that no square overflows or vanishes."""
    largest = update.abs().max() if update.numel() else update.sum()
    if largest == 0:
        return update
    update = update / largest
    return update / torch.linalg.vector_norm(update)


def _orthogonal(update: Tensor, steps: int | None) -> Tensor:
    """The matrix with all its singular values one, but those of zero; a kernel is a matrix of outputs × the rest."""
    matrix = _normalized(update.reshape(update.shape[0], -1))
    if not matrix.any():
        return update
    if steps is None:
        left, values, right = torch.linalg.svd(matrix, full_matrices=False)
        # The engine's cut: what is below is rounding noise, and noise has no direction.
        kept = values > torch.finfo(values.dtype).eps * max(matrix.shape) * values.max()
        return (left * kept @ right).view_as(update)
    turned = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    for _ in range(steps):
        # The quintic of Muon, steep at zero.
        square = turned @ turned.T
        turned = 3.4445 * turned + (-4.7750 * square + 2.0315 * square @ square) @ turned
    return (turned.T if turned.shape != matrix.shape else turned).reshape_as(update)
