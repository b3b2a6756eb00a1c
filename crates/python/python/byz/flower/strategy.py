"""A round of Flower that no client can end: ask, collect, read, aggregate, step."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterable
from logging import INFO, WARNING

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy
from flwr.supercore import log

from ..algorithms import Expression
from ..defense import Defense
from .collect import answer, collect
from .metrics import medians
from .model import InvalidReply, Model
from .report import Report

# Seconds by which the clocks of a node and of the server may differ before its replies count as expired.
CLOCKS_MAY_DIFFER = 60.0
# How Flower writes down what a client raised; the message may have many lines.
EXCEPTION = re.compile(r"\A<class '([^']*)'>:<'(.*)'>\Z", re.DOTALL)


class RobustStrategy(Strategy):
    """What `RobustFedAvg` and `ByzNSGDM` share; a subclass says how the model moves, in `_step`.

    - `rule`, `tolerance`, `strict`, `threads`: as for `byz.Defense`. `tolerance` is the number of liars assumed among the nodes asked in
      one round. Every node has the same say: the `num-examples` that clients report are ignored.
    - `fraction_train`, `fraction_evaluate`: the share of the connected nodes that is asked, never fewer than the quorum; zero for none.
    - `min_available_nodes`: the first round waits until so many are connected, by default the quorum. Later rounds wait for the quorum
      only, up to the deadline: a node that is gone for good must not cost every round a deadline.
    - `quorum`: a round with fewer replies is skipped. By default 2·`tolerance`+1, below which hardly any rule is defined.
    - `deadline`: seconds after which a round is closed with what has come; it is closed before when all have answered.
    - `seed`: for the choice of nodes; by default another one in every run.
    - `arrayrecord_key`, `configrecord_key`: the names of the records that clients are sent.

    A round that is skipped or refused leaves the model as it was. `reports` tells of every round.
    """

    def __init__(
        self,
        rule: str | Expression = "nnm+geometric_median",
        tolerance: int = 3,
        *,
        fraction_train: float = 1.0,
        fraction_evaluate: float = 1.0,
        min_available_nodes: int | None = None,
        quorum: int | None = None,
        deadline: float = 600.0,
        strict: bool = False,
        threads: int | None = None,
        seed: int | None = None,
        arrayrecord_key: str = "arrays",
        configrecord_key: str = "config",
    ) -> None:
        for name, fraction in (("fraction_train", fraction_train), ("fraction_evaluate", fraction_evaluate)):
            if not 0 <= fraction <= 1:
                raise ValueError(f"{name} must be between zero and one, got {fraction}")
        for name, count in (("min_available_nodes", min_available_nodes), ("quorum", quorum)):
            if count is not None and count < 1:
                raise ValueError(f"{name} must be at least one, got {count}")
        if not deadline > 0:
            raise ValueError(f"deadline must be above zero seconds, got {deadline}")
        self.defense = Defense(rule, tolerance, strict=strict, threads=threads)
        self.fraction_train = fraction_train
        self.fraction_evaluate = fraction_evaluate
        self.quorum = 2 * self.defense.tolerance + 1 if quorum is None else quorum
        self.min_available_nodes = self.quorum if min_available_nodes is None else min_available_nodes
        self.deadline = deadline
        self._timeout = math.inf
        self.arrayrecord_key = arrayrecord_key
        self.configrecord_key = configrecord_key
        self.reports: list[Report] = []
        self._random = random.Random(seed)
        self._model: Model | None = None
        self._asked: list[int] = []
        self._connected: set[int] = set()
        self._has_begun = False

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord,
        num_rounds: int = 3,
        timeout: float = 3600,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Callable[[int, ArrayRecord], MetricRecord | None] | None = None,
    ) -> Result:
        """All rounds, from scratch; as Flower's own, but that the shorter of `timeout` and the strategy's `deadline` holds."""
        if not timeout > 0:
            raise ValueError(f"timeout must be above zero seconds, got {timeout}")
        self._timeout = timeout
        log(INFO, "%s: %d rounds", type(self).__name__, num_rounds)
        self.summary()
        self._begin()
        result = Result(arrays=initial_arrays)
        _evaluate_here(evaluate_fn, 0, result)
        for server_round in range(1, num_rounds + 1):
            log(INFO, "[ROUND %d/%d]", server_round, num_rounds)
            questions = self.configure_train(server_round, result.arrays, train_config or ConfigRecord(), grid)
            arrays, metrics = self.aggregate_train(server_round, collect(grid, questions, self._patience))
            result.arrays = result.arrays if arrays is None else arrays
            if metrics is not None:
                result.train_metrics_clientapp[server_round] = metrics
            questions = self.configure_evaluate(server_round, result.arrays, evaluate_config or ConfigRecord(), grid)
            metrics = self.aggregate_evaluate(server_round, collect(grid, questions, self._patience))
            if metrics is not None:
                result.evaluate_metrics_clientapp[server_round] = metrics
            _evaluate_here(evaluate_fn, server_round, result)
        return result

    def summary(self) -> None:
        """Logs the settings."""
        log(INFO, "\t%s, tolerance %d of the nodes asked", self.defense.rule, self.defense.tolerance)
        log(INFO, "\tfraction asked: train %.2f, evaluate %.2f", self.fraction_train, self.fraction_evaluate)
        log(INFO, "\tquorum %d, deadline %.1f s, at least %d nodes", self.quorum, self._patience, self.min_available_nodes)

    def configure_train(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> Iterable[Message]:
        """The questions of a round: the model, for some of the nodes."""
        self._model = Model(arrays)
        return self._questions(server_round, arrays, config, grid, self.fraction_train, MessageType.TRAIN)

    def configure_evaluate(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> Iterable[Message]:
        """The same for an evaluation."""
        return self._questions(server_round, arrays, config, grid, self.fraction_evaluate, MessageType.EVALUATE)

    def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The next model, none if the round is skipped; and the counts, every node's weight and the medians of the clients' metrics."""
        if self._model is None:
            raise RuntimeError("aggregate_train needs the model: call configure_train first")
        if self.fraction_train == 0:
            return None, None
        contents, verdicts, ignored = self._sorted(replies)
        updates: dict[int, np.ndarray] = {}
        for node, content in contents.items():
            try:
                updates[node] = self._model.update_in(content)
            except InvalidReply as problem:
                verdicts[node] = f"invalid: {problem}"
        arrays, note, weights = self._next_model(updates, verdicts, len(contents))
        for node in updates:
            verdicts.setdefault(node, "not used" if arrays is None else "used")
        report = Report(
            server_round,
            arrays is not None,
            note,
            {node: verdicts[node] for node in self._asked},
            {node: weights.get(node, 0.0) for node in self._asked},
            ignored,
        )
        self.reports.append(report)
        report.log()
        used = [contents[node] for node, verdict in report.verdicts.items() if verdict == "used"]
        return arrays, report.metrics(medians(used))

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """The medians of what the clients report; none where fewer than the quorum do."""
        if self.fraction_evaluate == 0:
            return None
        contents, verdicts, _ = self._sorted(replies)
        if len(contents) < self.quorum:
            log(WARNING, "evaluation %d skipped: %s", server_round, self._too_few(len(contents)))
            return None
        counts = {"answered": len(contents), "missing": len(verdicts)}
        metrics = MetricRecord({**medians(list(contents.values())), **counts})
        log(INFO, "evaluation %d: %s", server_round, dict(metrics))
        return metrics

    @property
    def _patience(self) -> float:
        """Seconds to wait for whatever the nodes or the link owe."""
        return min(self.deadline, self._timeout)

    def _begin(self) -> None:
        """Forgets all rounds."""
        self.defense.reset()
        self.reports = []

    def _messages(self, updates: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """What is aggregated, per node."""
        return updates

    def _step(self, aggregate: np.ndarray) -> np.ndarray:
        """What is added to the model."""
        raise NotImplementedError

    def _applied(self) -> None:
        """Called when the model has moved."""

    def _next_model(
        self, updates: dict[int, np.ndarray], verdicts: dict[int, str], replies: int
    ) -> tuple[ArrayRecord | None, str, dict[int, float]]:
        """The model after this round, or none and why; and the nodes' weights. Verdicts of the defence are added."""
        invalid = replies - len(updates)
        if replies < self.quorum:
            return None, self._too_few(replies), {}
        if invalid > self.defense.tolerance or not updates:
            return None, f"{invalid} invalid replies, more than the tolerance of {self.defense.tolerance}: more nodes lie than was assumed", {}
        messages = self._messages(updates)
        try:
            # Text stands for a reply that is certainly a liar's, none for one that did not come.
            rows = [messages[node] if node in messages else _absent(verdicts[node]) for node in self._asked]
            told = self.defense.aggregate(rows, explain=True)
        except ValueError as refused:
            return None, str(refused), {}
        for node, verdict in zip(self._asked, told.verdicts, strict=True):
            if verdict != "used":
                verdicts.setdefault(node, verdict)
        # What overflows is found in the moved model.
        with np.errstate(over="ignore", invalid="ignore"):
            arrays = self._model.moved(self._step(told.vector))
        if arrays is None:
            return None, "the step would take the model beyond finite numbers; use a smaller rate", {}
        self._applied()
        return arrays, "", dict(zip(self._asked, told.weights, strict=True))

    def _questions(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid, fraction: float, kind: str
    ) -> list[Message]:
        self._asked = [] if fraction == 0 else self._chosen(grid, fraction)
        content = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: ConfigRecord({**config, "server-round": server_round})})
        # A node that is too slow would else work through the questions of rounds long closed.
        ttl = self._patience + CLOCKS_MAY_DIFFER
        return [Message(content, node, kind, ttl=ttl, group_id=str(server_round)) for node in self._asked]

    def _chosen(self, grid: Grid, fraction: float) -> list[int]:
        nodes = self._available(grid)
        self._connected = set(nodes)
        wanted = max(round(fraction * len(nodes)), self.quorum)
        return nodes if wanted >= len(nodes) else sorted(self._random.sample(nodes, wanted))

    def _available(self, grid: Grid) -> list[int]:
        """The connected nodes, in order, after waiting for enough of them: at first as long as it takes, later up to the deadline.

        None are where the link is down until the deadline, in the first round too.
        """
        end = time.monotonic() + self._patience
        enough = min(self.quorum, self.min_available_nodes) if self._has_begun else self.min_available_nodes
        while (nodes := answer(lambda: sorted(grid.get_node_ids()), end)) is not None:
            if len(nodes) >= enough or (self._has_begun and time.monotonic() >= end):
                self._has_begun = True
                return nodes
            log(INFO, "waiting for nodes: %d of at least %d are connected", len(nodes), enough)
            time.sleep(1.0 if not self._has_begun else min(1.0, max(0.0, end - time.monotonic())))
            if not self._has_begun:
                # Nodes may come when they like, the link may not.
                end = time.monotonic() + self._patience
        return []

    def _sorted(self, replies: Iterable[Message]) -> tuple[dict[int, RecordDict], dict[int, str], int]:
        """The first reply of each node that was asked; the verdict on those without; and how many more replies there were."""
        contents: dict[int, RecordDict] = {}
        verdicts: dict[int, str] = {}
        ignored = 0
        asked = set(self._asked)
        for reply in replies:
            node = reply.metadata.src_node_id
            if node not in asked or node in contents or node in verdicts:
                ignored += 1
            elif reply.has_content():
                contents[node] = reply.content
            else:
                verdicts[node] = f"missing: {_last_line(reply.error.reason)}"
        for node in self._asked:
            if node not in contents:
                verdicts.setdefault(node, "missing: no reply before the deadline")
        return contents, verdicts, ignored

    def _too_few(self, replies: int) -> str:
        return f"{replies} replies of {len(self._asked)} nodes asked, fewer than the quorum of {self.quorum}"


def _absent(verdict: str) -> str | None:
    return None if verdict.startswith("missing") else verdict


def _last_line(reason: str | None) -> str:
    """What an error says at its end, where the message of an exception is; bounded, and without control characters."""
    lines = EXCEPTION.sub(r"\1: \2", reason or "error without a reason").strip().splitlines()
    return ascii(lines[-1] if lines else "")[1:-1][:200]


def _evaluate_here(
    evaluate_fn: Callable[[int, ArrayRecord], MetricRecord | None] | None, server_round: int, result: Result
) -> None:
    """The evaluation at the server, if there is one."""
    metrics = evaluate_fn(server_round, result.arrays) if evaluate_fn else None
    if metrics is not None:
        log(INFO, "evaluation at the server: %s", dict(metrics))
        result.evaluate_metrics_serverapp[server_round] = metrics
