"""What became of a round: for the program, for the log and for Flower's metrics."""

from __future__ import annotations

from dataclasses import dataclass
from logging import INFO, WARNING

from flwr.app import MetricRecord
from flwr.supercore import log


@dataclass(frozen=True)
class Report:
    """What became of one round."""

    round: int
    applied: bool
    """Whether the model moved."""
    note: str
    """Why it did not; else empty."""
    verdicts: dict[int, str]
    """Per node that was asked: ``used``, ``not used`` (the round was skipped), ``missing: why`` or ``invalid: why``."""
    weights: dict[int, float]
    """Per node that was asked: its effective weight in the aggregate."""
    ignored: int
    """Replies of nodes that were not asked, or beyond the first of a node."""

    def count(self, verdict: str) -> int:
        """Nodes with this verdict, whatever its reason."""
        return sum(told.split(":")[0] == verdict for told in self.verdicts.values())

    def metrics(self, reported: dict[str, float]) -> MetricRecord:
        """The record of the round. What the clients reported comes first, so that it cannot overwrite what the server says."""
        weights = {f"weight/{node}": weight for node, weight in self.weights.items()}
        return MetricRecord({**reported, "applied": int(self.applied), **self._counts(), "ignored": self.ignored, **weights})

    def log(self) -> None:
        """One line for the round, one for each node whose reply was not used, and one if the round was skipped."""
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self._counts().items())
        log(INFO, "round %d: %s", self.round, counts)
        for node, verdict in self.verdicts.items():
            if verdict not in ("used", "not used"):
                log(INFO, "\tnode %d: %s", node, verdict)
        if not self.applied:
            log(WARNING, "round %d skipped, the model stays: %s", self.round, self.note)

    def _counts(self) -> dict[str, int]:
        return {verdict: self.count(verdict) for verdict in ("used", "invalid", "missing")}
