"""Where the numbers on a page come from: data, box, seed, software, date."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata

from bokern.reporting.digits import general
from bokern.reporting.results import ComparisonLike, OptimizationLike, ParameterLike

__all__ = ["of_comparison", "of_optimization", "software"]

PACKAGES = ("bokern", "torch", "gpytorch", "botorch", "ax-platform")
MOST_COLUMNS = 24
MOST_VALUES = 12

Facts = list[tuple[str, str]]


def software() -> Facts:
    """Versions of what computed the numbers, and the date."""
    facts = [("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))]
    for package in PACKAGES:
        try:
            facts.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            facts.append((package, "not installed as a package"))
    facts.append(("Python", f"{platform.python_version()} on {platform.system()}"))
    return facts


def of_comparison(found: ComparisonLike) -> Facts:
    """Data fingerprint, size, box, seed and kinds of the evidence."""
    n, d = found.X.shape
    first = found.evidences[0]
    facts = [
        ("observations", f"{n} of {found.target_name}"),
        ("inputs", f"{d}: {_some(found.column_names)}"),
        ("box", _some(_intervals(found))),
        ("data fingerprint", str(first.data_fingerprint)),
        ("likelihood", str(first.likelihood)),
        ("function integrated", str(first.inference)),
        ("hyperparameters integrated", str(first.integration)),
        ("starts per structure", str(first.restarts)),
        ("seed", str(found.seed)),
    ]
    return facts + [("note", str(note)) for note in found.notes]


def of_optimization(result: OptimizationLike) -> Facts:
    """The space, number of trials, what proposed them, seed."""
    trials = result.trials
    failed = int((trials["status"] != "completed").sum())
    counts = trials["generator"].astype(str).value_counts(sort=False)
    facts = [
        ("space", _some(map(_declared, result.parameters))),
        (
            "objective",
            ", ".join(f"{o} ({way})" for o, way in result.objectives.items()),
        ),
        ("trials", f"{len(trials)}, of which {failed} failed"),
        ("proposed by", ", ".join(f"{name} ({n})" for name, n in counts.items())),
        ("seed", str(result.seed)),
    ]
    if result.outcome_constraints:
        facts.append(("constraints", _some(result.outcome_constraints)))
    return facts + [("note", str(note)) for note in result.notes]


def _declared(parameter: ParameterLike) -> str:
    """A parameter and its values, in words."""
    name = parameter.name
    if parameter.is_fixed:
        return f"{name} = {general(parameter.values[0])}"
    if parameter.bounds is None:
        values = [general(value) for value in parameter.values]
        shown = ", ".join(values[:MOST_VALUES]) + (", …" * (len(values) > MOST_VALUES))
        return f"{name} in {{{shown}}}{'' if parameter.ordered else ' (no order)'}"
    low, high = (general(end, 6) for end in parameter.bounds)
    whole = " whole" if parameter.kind == "int" else ""
    return f"{name} in [{low}, {high}]{whole}{' log' if parameter.log else ''}"


def _intervals(found: ComparisonLike) -> list[str]:
    return [
        f"{name} in [{general(low, 6)}, {general(high, 6)}]"
        for name, low, high in zip(
            found.column_names, *found.bounds.tolist(), strict=True
        )
    ]


def _some(items: Iterable[object]) -> str:
    """Items on a line, the middle left out when there are very many."""
    words = [str(item) for item in items]
    if len(words) > MOST_COLUMNS:
        left_out = len(words) - MOST_COLUMNS
        words = [*words[: MOST_COLUMNS - 1], f"… {left_out} more …", words[-1]]
    return ", ".join(words)
