"""What a search does with its finalists: all rows, nesting, sampled evidences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bokern.evidence import AVERAGE_WITHIN, Evidence
from bokern.fitting import FitResult
from bokern.selection.jobs import NESTED_SLACK, Job, Outcome
from bokern.selection.progress import Progress, note_fit, note_settled, note_unsettled
from bokern.selection.state import State
from bokern.structures import Structure

WITHIN = 10.0
"""Nats behind the leader within which a structure goes on: the eventual winner was at
most so far behind after a first look."""

MENDINGS = 3
"""Passes in which structures start again from those they contain."""

NAMED = 3
"""Structures that a remark names."""


def settle(
    progress: Progress, most: int, rows: Callable[[Sequence[Structure]], int]
) -> None:
    """Fits the finalists to more rows, if the search saw some only.

    Args:
        progress: Of the search.
        most: How many finalists, at most.
        rows: To how many rows some structures are fitted; 0 for all.
    """
    if not progress.some_rows:
        return
    best = progress.converged
    chosen = [s for s in best if s.value > progress.top - WITHIN][:most]
    number = rows([s.structure for s in chosen])
    jobs = [Job("settle", s.text, starts=s.starts, rows=number) for s in chosen]
    progress.collect(
        chosen,
        jobs,
        "fitting all rows",
        note_settled,
        failed=note_unsettled,
        stop=lambda: progress.meter.share >= 1.0 and bool(progress.finished),
        least=1,
    )


def mend(progress: Progress) -> None:
    """Starts again, from the contained one, whatever fell short of what it holds.

    A fit can only become better: it also starts from where it was. What it gains may
    make others fall short, hence several passes. One that still falls short, or could
    not be fitted again, is flagged.
    """
    tried: set[tuple[str, str, tuple[float, ...]]] = set()
    unmended: set[str] = set()
    for _ in range(MENDINGS):
        states, jobs = [], []
        for state, own, parents in _short(progress):
            pairs = {(state.text, text, theta) for text, theta in parents}
            if pairs <= tried:
                continue
            tried |= pairs
            states.append(state)
            stage = "settle" if progress.some_rows else "converge"
            rows = state.rows if progress.some_rows else 0
            jobs.append(Job(stage, state.text, parents, (own.theta,), rows=rows))
        if not jobs:
            break

        def failed(state: State, _: Outcome) -> None:
            unmended.add(state.text)

        def mended(state: State, outcome: Outcome) -> None:
            unmended.discard(state.text)
            note_fit(state, outcome)

        progress.collect(states, jobs, "mending", mended, failed=failed)
    for state, _, parents in _short(progress):
        pairs = {(state.text, text, theta) for text, theta in parents}
        if state.text in unmended or not pairs <= tried:
            state.flag("NESTED_VIOLATION")


Parents = tuple[tuple[str, tuple[float, ...]], ...]


def _short(progress: Progress) -> list[tuple[State, FitResult, Parents]]:
    """Structures of lower likelihood than some that they contain, with these."""
    fits = [(s, s.candidate.fit) for s in progress.finished if s.candidate is not None]
    found = []
    for state, own in fits:
        parents = tuple(
            (other.text, fit.theta)
            for other, fit in fits
            if other is not state
            and own.log_likelihood < fit.log_likelihood - NESTED_SLACK
            and state.structure.contains(other.structure)
        )
        if parents:
            found.append((state, own, parents))
    return found


def sample(
    progress: Progress,
    most: float,
    applies: Callable[[Evidence], bool],
    names: Sequence[str] = (),
    asked: bool = False,
) -> list[str]:
    """Samples the evidences of the finalists.

    Those within 5 nats of the best are all sampled, or all evidences stay Laplace's:
    ranked together, the two would favour what was sampled, since Laplace's values lie
    up to 2 nats below sampled ones.

    Args:
        progress: Of the search.
        most: How many structures, at most.
        applies: Whether an evidence is to be sampled.
        names: Of columns.
        asked: Whether to say so if nothing is.

    Returns:
        What to say of finalists that were not sampled.
    """
    best = progress.finished
    finalists = [s for s in best if s.value > best[0].value - WITHIN]
    close = [s for s in finalists if s.value > best[0].value - AVERAGE_WITHIN]
    chosen = [s for s in finalists if applies(_evidence(s))]
    too_large = [s for s in close if s not in chosen]
    if too_large or len(close) > most:
        why = f"{len(close)} structures are within {AVERAGE_WITHIN:g} nats of the best"
        if too_large:
            why = f"{_named(too_large, names)} would take too long"
        if not (asked or chosen):
            return []
        return [f"no evidence was sampled, since {why}: all are Laplace's"]
    chosen = chosen[: max(len(close), int(min(most, len(chosen))))]
    jobs = [Job("smc", s.text, starts=s.starts[:1]) for s in chosen]
    progress.collect(
        chosen,
        jobs,
        "sampling",
        _note_sample,
        failed=_note_unsampled,
        stop=lambda: progress.meter.share >= 1.0,
    )
    missing = [s for s in close if s.sampled is None]
    if missing:
        return [_unsampled(missing, names) + ": all evidences stay Laplace's"]
    for state in chosen:
        _use_sample(state)
    rest = [s for s in finalists if s.sampled is None]
    if not rest:
        return []
    theirs = "its evidence is" if len(rest) == 1 else "their evidences are"
    return [
        f"{_unsampled(rest, names)}, {AVERAGE_WITHIN:g} to {WITHIN:g} nats behind the "
        f"best: {theirs} Laplace's, lower by up to 2 nats"
    ]


def unused_samples(states: Sequence[State], names: Sequence[str]) -> list[str]:
    """What to say of evidences that were sampled and are not ranked by."""
    values = [
        f"{s.structure.named(names)} {s.sampled.log_evidence:.2f} ± "
        f"{s.sampled.standard_error:.2f}"
        for s in states
        if s.sampled is not None and s.status != "finalist"
    ]
    if not values:
        return []
    return [
        f"sampled, but not ranked by, since rivals were not: {'; '.join(values)} nats"
    ]


def _evidence(state: State) -> Evidence:
    assert state.candidate is not None
    return state.candidate.evidence


def _note_sample(state: State, outcome: Outcome) -> None:
    state.sampled = Evidence.from_json(outcome["evidence"])


def _note_unsampled(state: State, outcome: Outcome) -> None:
    state.unsampled = outcome["error"]


def _use_sample(state: State) -> None:
    assert state.candidate is not None
    assert state.sampled is not None
    fitted = state.candidate.evidence
    # Flags and restarts are those of the fit, which the sampling does not see.
    evidence = replace(
        state.sampled,
        restarts=fitted.restarts,
        restart_hits=fitted.restart_hits,
        seed=fitted.seed,
        flags=tuple(f for f in fitted.flags if f != "NOT_AT_OPTIMUM"),
    )
    state.candidate = replace(state.candidate, evidence=evidence)
    state.score = evidence.log_evidence
    state.status = "finalist"


def _unsampled(states: Sequence[State], names: Sequence[str]) -> str:
    """That structures were not sampled, and why."""
    reasons = dict.fromkeys(s.unsampled for s in states if s.unsampled)
    why = "; ".join(reasons) or "the budget or the number to sample ended before"
    verb = "was" if len(states) == 1 else "were"
    return f"{_named(states, names)} {verb} not sampled ({why})"


def _named(states: Sequence[State], names: Sequence[str]) -> str:
    said = ", ".join(str(s.structure.named(names)) for s in states[:NAMED])
    more = len(states) - NAMED
    return f"{said} and {more} more" if more > 0 else said
