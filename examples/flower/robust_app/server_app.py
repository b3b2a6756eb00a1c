"""The server: a robust strategy from byz, and a table of what became of every node."""

from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp

from byz.flower import ByzNSGDM, RobustFedAvg, RobustStrategy
from robust_app.task import TEST, accuracy, initial

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """All rounds, then the table."""
    config = context.run_config
    strategy = chosen(config)
    result = strategy.start(grid, initial(), num_rounds=int(config["rounds"]), evaluate_fn=evaluated)
    print(table(strategy), flush=True)
    for server_round, metrics in result.evaluate_metrics_serverapp.items():
        print(f"accuracy after round {server_round}: {metrics['accuracy']:.3f}", flush=True)


def chosen(config: dict) -> RobustStrategy:
    """The strategy that the run asks for."""
    settings = {
        "min_available_nodes": int(config["nodes"]),
        "quorum": int(config["quorum"]),
        "deadline": float(config["deadline"]),
        # The server has points of its own to test with.
        "fraction_evaluate": 0.0,
    }
    rule, tolerance, rate = str(config["rule"]), int(config["tolerance"]), float(config["rate"])
    if config["strategy"] == "fedavg":
        return RobustFedAvg(rule, tolerance, server_rate=rate, **settings)
    if config["strategy"] == "nsgdm":
        return ByzNSGDM(rule, tolerance, rate=rate, **settings)
    raise ValueError(f"strategy: expected fedavg or nsgdm, got {config['strategy']!r}")


def evaluated(server_round: int, arrays: ArrayRecord) -> MetricRecord:
    """The accuracy on points that no client has."""
    return MetricRecord({"accuracy": accuracy(arrays["weights"].numpy(), arrays["bias"].numpy(), TEST)})


def table(strategy: RobustStrategy) -> str:
    """A line per node: its mean weight over the rounds it was asked in, and its verdicts with the rounds they are of."""
    lines = [f"{'node':>20}  weight  verdicts"]
    for node in sorted({node for report in strategy.reports for node in report.verdicts}):
        asked = [report for report in strategy.reports if node in report.verdicts]
        weight = sum(report.weights[node] for report in asked) / len(asked)
        rounds: dict[str, list[str]] = {}
        for report in asked:
            rounds.setdefault(report.verdicts[node], []).append(str(report.round))
        verdicts = "; ".join(f"{verdict} (round {', '.join(which)})" for verdict, which in rounds.items())
        lines.append(f"{node:>20}  {weight:6.3f}  {verdicts}")
    return "\n".join(lines)
