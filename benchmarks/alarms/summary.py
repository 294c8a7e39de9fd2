"""How often something was claimed that is not there."""

from __future__ import annotations

import numpy as np

from benchmarks.alarms.run import CLAIMS, DESIGNS
from benchmarks.claims import Row, claims_table, failures
from benchmarks.tasks import Record

REQUIRED = 0.1


def summary(records: list[Record]) -> str:
    """Claims, then every alarm, as markdown. A run that failed counts as an alarm."""
    rows, lines = [], []
    for design in DESIGNS:
        runs = [r for r in records if r["design"] == design]
        if not runs:
            continue
        wrong = [r for r in runs if r["error"] or r["unfounded"]]
        claim = f"{design} points: the winner has a symmetry or a warp"
        rows.append(Row.of_share(claim, len(wrong), len(runs), REQUIRED, at_most=True))
        modes = [r for r in runs if r["error"] or r["mode_unfounded"]]
        claim = f"{design} points: the most probable structure has one of them"
        rows.append(Row.of_share(claim, len(modes), len(runs), REQUIRED, at_most=True))
        likely = [r for r in runs if r["error"] or r["probability"]["either"] > 0.5]
        claim = f"{design} points: a symmetry or a warp is more probable than not"
        rows.append(Row.of_share(claim, len(likely), len(runs), REQUIRED, at_most=True))
        loops = [r["in_loop"] for r in runs if r.get("in_loop")]
        if loops:
            count = sum(bool(r["unfounded"]) for r in loops)
            rows.append(
                Row.of_share(
                    f"{design} points: so has the winner of the optimiser's own last "
                    "comparison",
                    count,
                    len(loops),
                    REQUIRED,
                    at_most=True,
                )
            )
        lines += [_probabilities(design, runs), *map(_alarm, wrong)]
    return "\n\n".join([claims_table(rows), "\n".join(lines), failures(records)])


def _probabilities(design: str, runs: list[Record]) -> str:
    good = [r for r in runs if not r["error"]]
    words = []
    for kind in ("either", *CLAIMS):
        values = [r["probability"][kind] for r in good]
        if values:
            words.append(
                f"{kind}: mean {np.mean(values):.2f}, above ½ in "
                f"{sum(v > 0.5 for v in values)}"
            )
    text = "; ".join(words)
    cpu = [r["cpu_seconds"] for r in runs]
    return (
        f"{design}, {len(runs)} runs, probability of {text}; CPU s a run: median "
        f"{np.median(cpu):.0f}, maximum {max(cpu):.0f}."
    )


def _alarm(record: Record) -> str:
    if record["error"]:
        return f"- {record['key']}: failed"
    flags = f" [{' '.join(record['flags'])}]" if record["flags"] else ""
    lead = (
        ""
        if record["lead"] is None
        else f"{record['lead']:.1f} nats ahead of what claims nothing, "
    )
    return (
        f"- {record['key']}: {record['best']}{flags}, {lead}probability "
        f"{record['probability']['either']:.2f}"
    )
