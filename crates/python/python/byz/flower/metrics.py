"""One number from what many clients report: the median, which less than half of them cannot move far."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from flwr.app import MetricRecord, RecordDict


def medians(contents: Sequence[RecordDict]) -> dict[str, float]:
    """Per metric the median of its finite values, for the metrics that more than half of the clients report.

    A metric of few is left out: a liar could invent any number of them. Lists are left out too.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for content in contents:
        for name, value in _reported(content).items():
            values[name].append(value)
    return {name: median(found) for name, found in sorted(values.items()) if 2 * len(found) > len(contents)}


def _reported(content: RecordDict) -> dict[str, float]:
    found = {}
    for record in content.values():
        if isinstance(record, MetricRecord):
            found.update({name: number for name, value in record.items() if (number := _finite(value)) is not None})
    return found


def _finite(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, (int, float)) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
