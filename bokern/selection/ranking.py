"""Fits every structure of a list and ranks them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from bokern.build import lifted_start, unfitted
from bokern.errors import (
    BokernError,
    EvidenceError,
    FitError,
    FitWarning,
    InputError,
    StructureError,
)
from bokern.evidence import Evidence, laplace
from bokern.inputs import Bounds, Observations, read_observations
from bokern.models import StructuredGP
from bokern.selection.comparison import Candidate, Comparison, Settings
from bokern.selection.jobs import NESTED_SLACK
from bokern.selection.outcome import with_outcome
from bokern.structures import Structure, as_structure


def compare(
    structures: Sequence[Structure | str],
    X: Any,
    y: Any,
    *,
    bounds: Bounds | None = None,
    noise: Any = None,
    starts: int = 8,
    seed: int = 0,
    mean: str = "constant",
    standardize: bool = True,
    outcome: str = "identity",
    progress: bool | None = None,
) -> Comparison:
    """Ranks structures by their log evidence on data.

    Every structure is fitted by multi-start MAP and its hyperparameters integrated out
    by Laplace's method, on the scale of the raw targets. One that cannot be fitted is
    listed with its reason and does not end the comparison.

    Args:
        structures: Structures or their texts; equal ones are fitted once.
        X: ``n x d`` tensor, array or DataFrame, in raw units; a vector is one column.
        y: ``n`` tensor, array or Series, in raw units.
        bounds: The declared box, ``(low, high)`` a column, in order or by name.
        noise: Known variance of y, one number or ``n``; None to infer it.
        starts: Optimisations for each structure.
        seed: Of the starts; each structure draws its own from it.
        mean: ``"constant"`` with a N(0, 1) prior, or ``"zero"``.
        standardize: Whether y is z-scored first, after the outcome transform.
        outcome: Transform of y, the same for all: ``"identity"``, ``"log"``,
            ``"yeo-johnson(0.3)"`` of that power, ``"yeo-johnson"`` of the power that
            the evidence prefers, or ``"auto"``: whichever it prefers.
        progress: Whether to show a progress bar; on a terminal by default.

    Raises:
        InputError: What cannot be used, and how to mend it.
        FitError: If every structure failed, with the reasons.
    """
    data = read_observations(X, y, bounds, noise)
    settings = Settings(starts, seed, mean, standardize)
    data, settings = with_outcome(data, settings, outcome)
    return compare_observations(structures, data, settings, progress=progress)


def compare_observations(
    structures: Sequence[Structure | str],
    data: Observations,
    settings: Settings,
    *,
    progress: bool | None = None,
) -> Comparison:
    """`compare` on data that are checked already."""
    candidates = distinct(structures, data.column_names)
    for structure in candidates:
        unfitted(structure, data, **settings.options())
    fitted: dict[Structure, tuple[StructuredGP, Evidence]] = {}
    failures: list[tuple[str, str]] = []
    hidden = not sys.stderr.isatty() if progress is None else not progress
    bar = tqdm(candidates, desc="comparing", unit="structure", disable=hidden)
    for structure in bar:
        bar.set_postfix_str(str(structure)[:40])
        try:
            model = unfitted(structure, data, **settings.options()).fit()
            evidence = laplace(model)
            if not math.isfinite(evidence.log_evidence):
                raise EvidenceError(f"the log evidence is {evidence.log_evidence}")
            fitted[structure] = model, evidence
        except (BokernError, RuntimeError, ValueError) as error:
            failures.append((str(structure), f"{type(error).__name__}: {error}"))
            warnings.warn(
                f"{structure} could not be fitted and is left out: {error}",
                FitWarning,
                stacklevel=3,
            )
    if not fitted:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failures)
        raise FitError(f"none of the structures could be fitted: {reasons}")
    _mend_nesting(fitted)
    results = [Candidate.of(s, model, e) for s, (model, e) in fitted.items()]
    return Comparison(results, data, settings, tuple(failures))


def distinct(
    structures: Sequence[Structure | str], names: Sequence[str]
) -> list[Structure]:
    """Structures as given, one of those that mean the same columns.

    Raises:
        StructureError: If they are no list of structures.
        InputError: If the list is empty.
    """
    if isinstance(structures, str | Structure):
        raise StructureError(
            f"expected a list of structures, got one: write [{structures!r}]"
        )
    try:
        given = [as_structure(s) for s in structures]
    except TypeError as error:
        if isinstance(error, BokernError):
            raise
        raise StructureError(
            f"expected a list of structures, got {structures!r:.80}"
        ) from error
    if not given:
        raise InputError("expected at least one structure, got an empty list")
    distinct: dict[Structure, Structure] = {}
    for structure in given:
        distinct.setdefault(structure.resolve(names).canonical(), structure)
    return list(distinct.values())


def _mend_nesting(fitted: dict[Structure, tuple[StructuredGP, Evidence]]) -> None:
    """Starts again, from the contained one, whatever fell short of what it contains."""
    by_size = sorted(fitted, key=lambda s: sum(1 for _ in s.nodes()))
    for structure in by_size:
        child, evidence = fitted[structure]
        assert child.fit_result is not None
        objective = child.log_posterior()
        for other in by_size:
            parent = fitted[other][0]
            assert parent.fit_result is not None
            if other == structure or not child.structure.contains(parent.structure):
                continue
            start = lifted_start(child, parent)
            here = child.fit_result.objective
            short = min(
                here - objective(start).item(),
                child.fit_result.log_likelihood - parent.fit_result.log_likelihood,
            )
            if short >= -NESTED_SLACK:
                continue
            again = deepcopy(child)
            try:
                again.fit(warm=start.unsqueeze(0))
                mended = laplace(again)
            except (BokernError, RuntimeError, ValueError):
                again, mended = child, evidence
            assert again.fit_result is not None
            if again.fit_result.objective < objective(start).item() - NESTED_SLACK:
                flags = (*mended.flags, "NESTED_VIOLATION")
                mended = replace(mended, flags=tuple(dict.fromkeys(flags)))
            child, evidence = fitted[structure] = again, mended
