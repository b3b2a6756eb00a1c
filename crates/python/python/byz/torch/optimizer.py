"""Byz-NSGDM as an optimiser of PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer

from ..algorithms import Expression
from ..defense import Aggregate, Defense, count, number
from ..steps import read_schedule
from .messages import read_gradients
from .norms import check_norm, steepest


class ByzNSGDM(Optimizer):
    """Normalised SGD with momentum that up to `tolerance` of the `workers` may lie to.

    Each step takes one gradient per worker. The server keeps every worker's momentum (1−β)·Σ βⁱ·gradient, aggregates the momenta with
    `rule`, and moves each parameter group by `lr` times the schedule's factor in the direction that is steepest in its
    norm: ``l2`` (the aggregate over its length), ``linf`` (its signs) or ``spectral`` (each matrix made orthogonal, as Muon
    does; vectors over their length). `lr`, `norm` and `spectral_steps` may differ between parameter groups; the aggregate is of all
    groups at once. Parameters that do not require a gradient are passed over, and keep what momentum they have.

    `schedule` is ``"inverse_sqrt"``, ``"constant"`` or a function of the round, from 1. `spectral_steps` is the number of
    Newton–Schulz steps; without it the singular value decomposition is taken.
    """

    def __init__(
        self,
        params: Iterable[Any],
        workers: int = 20,
        tolerance: int = 3,
        rule: str | Expression = "nnm+geometric_median",
        lr: float = 0.1,
        momentum: float = 0.9,
        schedule: str | Callable[[int], float] = "inverse_sqrt",
        norm: str = "l2",
        *,
        spectral_steps: int | None = None,
        strict: bool = False,
        threads: int | None = None,
    ) -> None:
        if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)):
            raise TypeError(f"workers must be a whole number, got {workers!r}")
        if workers < 1:
            raise ValueError(f"workers must be at least one, got {workers}")
        if not 0 < number("lr", lr) < math.inf:
            raise ValueError(f"lr must be above zero and finite, got {lr}")
        if not 0 <= number("momentum", momentum) < 1:
            raise ValueError(f"momentum must be at least zero and below one, got {momentum}")
        self.defense = Defense(rule, tolerance, strict=strict, threads=threads)
        self.workers = int(workers)
        self.momentum = momentum
        self.schedule = read_schedule(schedule)
        self.round = 0
        # Per parameter that was ever trained its columns: of the workers' momenta, and of the defence's centre.
        self._momenta: dict[Tensor, Tensor] = {}
        self._centers: dict[Tensor, Tensor] = {}
        self.report: Aggregate | None = None
        """What became of each worker in the last explained step."""
        super().__init__(params, {"lr": lr, "norm": norm, "spectral_steps": spectral_steps})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with a rate or norm of their own. Their momenta start from zero, those of the others go on."""
        if isinstance(param_group, dict):
            _check_group({**self.defaults, **param_group})
        super().add_param_group(param_group)

    @torch.no_grad()
    def step(self, worker_gradients: Any, *, explain: bool = False) -> None:  # type: ignore[override]
        """One round: a matrix with a row per worker, or a list with a vector, a list of arrays like the parameters, or ``None`` per worker.

        The coordinates are in the order of the groups' parameters, those that do not require a gradient left out. A gradient
        that is not finite or of another form is left out of this round, and of its worker's momentum, and counts as a
        liar's. Raises `byz.RefusedError` where too few are left. Whatever is raised, nothing has changed.
        """
        gradients = list(worker_gradients)
        if len(gradients) != self.workers:
            raise ValueError(f"expected the gradients of {self.workers} workers, got {len(gradients)}")
        trained = self._trained()
        factor = self._factor(self.round + 1)
        # A copy: what is kept changes only once all is done.
        momenta = self._columns(self._momenta, trained, self.workers)
        messages = self._advance(momenta, read_gradients(gradients, self._parameters(), like=momenta[0]))
        before = self.defense.round, self.defense._center, self.defense._layout
        try:
            if self.defense._center is not None:
                # Of another length than before, where parameters were frozen or added.
                self.defense._center, self.defense._layout = [self._columns(self._centers, trained, 1)[0].cpu().numpy()], None
            result = self.defense.aggregate(messages, explain=explain)
            moves = self._moves(result.vector if explain else result, factor)
        except BaseException:
            self.defense.round, self.defense._center, self.defense._layout = before
            raise
        for parameter, direction, rate in moves:
            parameter.add_(direction, alpha=-rate)
        self.round += 1
        self.report = result if explain else None
        self._keep(trained, momenta)

    def _advance(self, momenta: Tensor, gradients: list[Any]) -> Any:
        """The gradients into the momenta, in place; what goes to the defence. One that does not stay finite is left as it was."""
        messages, advanced = list(gradients), 0
        for worker, gradient in enumerate(gradients):
            if not isinstance(gradient, Tensor):
                continue
            messages[worker] = momenta[worker].lerp(gradient, 1 - self.momentum)
            if torch.isfinite(messages[worker]).all():
                messages[worker] = momenta[worker].copy_(messages[worker])
                advanced += 1
        return momenta if advanced == self.workers else messages

    def _moves(self, update: Tensor, factor: float) -> list[tuple[Tensor, Tensor, float]]:
        """Per trained parameter its direction and rate."""
        moves, start = [], 0
        for group in self.param_groups:
            trained = [parameter for parameter in group["params"] if parameter.requires_grad]
            shapes = [parameter.shape for parameter in trained]
            size = sum(shape.numel() for shape in shapes)
            directions = steepest(update[start : start + size], shapes, group["norm"], group["spectral_steps"])
            start += size
            rate = float(group["lr"]) * factor
            if not math.isfinite(rate):
                raise ValueError(f"lr must be finite, got {group['lr']}")
            moves += [(parameter, part.to(parameter), rate) for parameter, part in zip(trained, directions, strict=True)]
        return moves

    def _keep(self, trained: list[Tensor], momenta: Tensor) -> None:
        # What stays of others is cut out, or it would keep all of an old matrix.
        kept = _split(trained, momenta)
        frozen = {parameter: columns.contiguous() for parameter, columns in self._momenta.items() if parameter not in kept}
        self._momenta = {**frozen, **kept}
        if self.defense._center is not None:
            self._centers.update(_split(trained, torch.from_numpy(self.defense._center[0])[None]))

    def _factor(self, round: int) -> float:
        factor = float(self.schedule(round))
        if not math.isfinite(factor):
            raise ValueError(f"schedule: expected a finite factor for round {round}, got {factor}")
        return factor

    def _parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def _trained(self) -> list[Tensor]:
        trained = [parameter for parameter in self._parameters() if parameter.requires_grad]
        if not trained:
            raise ValueError("no parameter requires a gradient: call requires_grad_() on those to train")
        return trained

    def _columns(self, held: dict[Tensor, Tensor], parameters: list[Tensor], rows: int) -> Tensor:
        """The columns of these parameters side by side, in float32 at least; zeros where none are held."""
        kind = {"dtype": reduce(torch.promote_types, (parameter.dtype for parameter in parameters), torch.float32)}
        kind["device"] = parameters[0].device
        parts = [held[one].to(**kind) if one in held else torch.zeros(rows, one.numel(), **kind) for one in parameters]
        return torch.cat(parts, dim=1)

    def state_dict(self) -> dict[str, Any]:
        """The state of every worker's momentum and of the defence; `held` are the positions of the parameters that have one."""
        parameters = self._parameters()
        held = [position for position, parameter in enumerate(parameters) if parameter in self._momenta]
        columns = [parameters[position] for position in held]
        momenta = self._columns(self._momenta, columns, self.workers) if held else None
        centered = held and self.defense._center is not None
        defense = {"round": self.defense.round, "center": self._columns(self._centers, columns, 1)[0].cpu() if centered else None}
        own = {"workers": self.workers, "shapes": self._shapes(), "round": self.round, "held": held, "momenta": momenta}
        return {**super().state_dict(), **own, "defense": defense}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state back; raises, and changes nothing, where it is damaged, or of other workers or parameters."""
        try:
            self._check_state(state_dict)
            # The last that may raise, and the first that changes anything.
            super().load_state_dict({name: state_dict[name] for name in ("state", "param_groups")})
        except (AttributeError, RuntimeError, TypeError) as problem:
            raise ValueError(f"the state is damaged: {problem}") from problem
        momenta, center = state_dict["momenta"], state_dict["defense"]["center"]
        parameters = self._parameters()
        columns = [parameters[position] for position in state_dict["held"]]
        self.round = state_dict["round"]
        self._momenta = {} if momenta is None else _split(columns, momenta.clone())
        self._centers = {} if center is None else _split(columns, center[None].clone())
        self.defense.round = state_dict["defense"]["round"]
        self.defense._center, self.defense._layout = None if center is None else [center.cpu().numpy().copy()], None

    def _check_state(self, state_dict: dict[str, Any]) -> None:
        missing = {"state", "param_groups", "workers", "shapes", "round", "held", "momenta", "defense"} - set(state_dict)
        if missing or {"round", "center"} - set(state_dict["defense"]):
            raise ValueError(f"this is no state of ByzNSGDM: it has no {', '.join(sorted(missing)) or 'whole defense'}")
        workers, shapes = state_dict["workers"], state_dict["shapes"]
        if workers != self.workers:
            raise ValueError(f"the state is of {workers} workers, the optimiser of {self.workers}: make it with workers={workers}")
        for position, (theirs, ours) in enumerate(zip_longest(shapes, self._shapes())):
            if theirs != ours:
                found = f"parameter {position} of the state is of shape {theirs}, that of the optimiser of {ours}"
                raise ValueError(f"{found}: make it with the groups of the state")
        for group in state_dict["param_groups"]:
            missing = {"params", *self.defaults} - set(group)
            if missing:
                raise ValueError(f"a group of the state has no {', '.join(sorted(missing))}")
            _check_group(group)
        for name, round in (("round", state_dict["round"]), ("round of the defense", state_dict["defense"]["round"])):
            count(name, round)
        held = [count("held", position) for position in state_dict["held"]]
        if held != sorted(set(held)) or (held and held[-1] >= len(shapes)):
            raise ValueError(f"held: expected positions of {len(shapes)} parameters, got {held}")
        columns = sum(math.prod(shapes[position]) for position in held)
        _check_numbers("momenta", state_dict["momenta"], (self.workers, columns), optional=not held)
        _check_numbers("center", state_dict["defense"]["center"], (columns,), optional=True)

    def _shapes(self) -> list[tuple[int, ...]]:
        return [tuple(parameter.shape) for parameter in self._parameters()]

    def __getstate__(self) -> dict[str, Any]:
        """All that a copy needs; the hooks and what a scheduler put around `step` belong to the original."""
        own = ("defense", "workers", "momentum", "schedule", "round", "report")
        # Cut out: pickle writes all of a matrix for every view of it.
        held = {name: {one: part.clone() for one, part in getattr(self, name).items()} for name in ("_momenta", "_centers")}
        return {**super().__getstate__(), **{name: getattr(self, name) for name in own}, **held}


def _check_group(group: dict[str, Any]) -> None:
    """Raises where a group has settings with which no step can be made."""
    check_norm(group["norm"])
    if not 0 <= number("lr of a group", group["lr"]) < math.inf:
        raise ValueError(f"lr of a group must be at least zero and finite, got {group['lr']}")
    if group["spectral_steps"] is not None:
        count("spectral_steps", group["spectral_steps"])


def _check_numbers(name: str, found: Any, shape: tuple[int, ...], *, optional: bool) -> None:
    """Raises where a tensor of a state is not what was saved."""
    if found is None and optional:
        return
    if not isinstance(found, Tensor) or found.dtype not in (torch.float32, torch.float64) or tuple(found.shape) != shape:
        kind = f"{found.dtype} of shape {tuple(found.shape)}" if isinstance(found, Tensor) else type(found).__name__
        raise ValueError(f"{name} of the state: expected float32 or float64 of shape {shape}, got {kind}")
    if not torch.isfinite(found).all():
        raise ValueError(f"{name} of the state: expected finite numbers")


def _split(parameters: list[Tensor], matrix: Tensor) -> dict[Tensor, Tensor]:
    """The columns of each parameter."""
    return dict(zip(parameters, matrix.split([parameter.numel() for parameter in parameters], dim=1), strict=True))
