"""Goals and tables, as markdown and as one HTML page with the regret curves."""

from __future__ import annotations

from benchmarks.optimise.cells import Cells, number
from benchmarks.optimise.curves import figure
from benchmarks.optimise.goals import goals
from benchmarks.optimise.table import FLOOR, REFERENCE, overall, rows
from benchmarks.optimise.until import until_rows
from benchmarks.tasks import Record

_STYLE = """
body { font-family: sans-serif; margin: 2em auto; max-width: 1500px; padding: 0 1em; }
table { border-collapse: collapse; font-size: 85%; }
th, td { border-bottom: 1px solid #ddd; padding: .25em .6em; text-align: left; }
td:last-child { white-space: nowrap; }
"""


def markdown(records: list[Record]) -> str:
    """Goals, final regrets and evaluations of each method on each objective."""
    return "\n".join(cells.markdown() for cells in _tables(records))


def html(records: list[Record]) -> str:
    """The same as a page, the curves between the goals and the tables."""
    first, *others = [cells.html() for cells in _tables(records)]
    curves = figure(records).to_html(include_plotlyjs=True, full_html=False)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>Optimisation benchmarks</title><style>{_STYLE}</style></head><body>"
        f"<h1>Optimisation benchmarks</h1>{first}{curves}{''.join(others)}"
        "</body></html>"
    )


def _tables(records: list[Record]) -> list[Cells]:
    found = [_goals(records), _regrets(records), _until(records)]
    return [cells for cells in found if cells.rows]


def _goals(records: list[Record]) -> Cells:
    return Cells(
        "Goals",
        ["goal", "what", "required", "measured", "seeds", ""],
        [
            [
                str(part.number),
                part.goal,
                part.requirement,
                part.measured,
                str(part.seeds),
                part.verdict,
            ]
            for part in goals(records)
        ],
        "Of bokern as it comes, over seeds that both methods of a comparison have. A "
        "goal is not measured unless every objective of it is. Regrets are compared by "
        f"geometric means, those below {FLOOR:.0%} of the threshold counting as that.",
    )


def _regrets(records: list[Record]) -> Cells:
    table = rows(records)
    means = [f"{m} {number(r)}" for m, r in sorted(overall(table).items())]
    mean = f"Geometric mean of the ratio to {REFERENCE} over objectives: "
    return Cells(
        "Final regret",
        [
            *("objective", "method", "seeds", "crashes"),
            *("final regret: median [quartiles]", "solved", "cumulative"),
            *(f"ratio to {REFERENCE}", "p", "CPU s/iteration: median, maximum"),
        ],
        [
            [
                row.objective,
                row.method,
                str(row.seeds),
                str(row.crashes),
                f"{number(row.median)} [{number(row.lower)}, {number(row.upper)}]",
                f"{row.solved:.0%}",
                number(row.cumulative),
                number(row.ratio),
                number(row.p_value),
                f"{number(row.cpu_median)}, {number(row.cpu_maximum)}",
            ]
            for row in table
        ],
        (f"{mean}{'; '.join(means)}. " if means else "") + _notes(records),
    )


def _until(records: list[Record]) -> Cells:
    return Cells(
        "Evaluations until solved",
        [
            *("objective", "method", "seeds", "crashes", "solved"),
            *("evaluations: median [quartiles]", f"times fewer than {REFERENCE}"),
        ],
        [
            [
                row.objective,
                row.method,
                str(row.seeds),
                str(row.crashes),
                f"{row.solved:.0%}",
                f"{row.median:g} [{row.lower:g}, {row.upper:g}]",
                number(row.fewer),
            ]
            for row in until_rows(records)
        ],
        "A run that was not solved counts as its budget; the ratio is a geometric mean "
        "over paired seeds.",
    )


def _notes(records: list[Record]) -> str:
    thresholds = []
    for objective in dict.fromkeys(r["objective"] for r in records):
        limits = {r["threshold"] for r in records if r["objective"] == objective}
        text = " to ".join(number(v) for v in sorted({min(limits), max(limits)}))
        thresholds.append(f"{objective} {text}")
    releases = {f"{k} {v}" for r in records for k, v in r["versions"].items()}
    return (
        f"Solved means a final simple regret below: {', '.join(thresholds)}. Only "
        "seeds that all methods of an objective have are counted. Regrets are without "
        "noise. A crash counts as its last regret. The ratio is the geometric mean "
        f"over paired seeds, regrets below {FLOOR:.0%} of the threshold counting as "
        "that; p is the paired two-sided Wilcoxon test. "
        f"Versions: {', '.join(sorted(releases))}."
    )
