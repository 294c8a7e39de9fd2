"""What a search has found, at its end or where it was stopped, as a comparison."""

from __future__ import annotations

from dataclasses import replace

from bokern.errors import BokernError, FitError
from bokern.selection.comparison import Comparison
from bokern.selection.jobs import Context
from bokern.selection.last_steps import unused_samples
from bokern.selection.progress import Progress


def found(
    progress: Progress, context: Context, remarks: tuple[str, ...] = ()
) -> Comparison:
    """The structures fitted to the rows of the last step, or of the search before it.

    Args:
        progress: Of the search.
        context: With all rows; the comparison has those of its fits.
        remarks: What else is to be said.

    Raises:
        FitError: If no structure was fitted, with the reasons.
    """
    names = context.data.column_names
    states = list(progress.states.values())
    shown = progress.finished or progress.converged
    failed = [s for s in states if s.error and s not in shown]
    failures = tuple((str(s.structure.named(names)), s.error) for s in failed)
    if not shown:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failures)
        raise FitError(
            f"none of {len(states)} structures could be fitted: "
            f"{reasons or 'none was looked at'}"
        )
    data = context.on(shown[0].rows).data
    n = len(context.data.X)
    if progress.some_rows:
        said = (
            f"structures were searched on {progress.rows} of {n} rows, drawn at random"
        )
        remarks += (f"{said}, {_last_step(progress, len(data.X), n)}",)
    attempts = [s.attempt(names) for s in states]
    return Comparison(
        [s.result(names) for s in shown],
        data,
        context.settings,
        failures,
        remarks=(*remarks, *unused_samples(states, names)),
        trace=tuple(
            replace(attempt, status="failed") if state in failed else attempt
            for state, attempt in zip(states, attempts, strict=True)
        ),
    )


def attach(
    stop: BaseException, progress: Progress, context: Context, remarks: tuple[str, ...]
) -> None:
    """Saves what was found before a stop in the exception's ``result``."""
    how = "interrupted from the keyboard"
    if not isinstance(stop, KeyboardInterrupt):
        how = f"stopped by {type(stop).__name__}: {stop}".rstrip(": ")
    try:
        result = found(progress, context, (*remarks, f"the search was {how}"))
    except BokernError:
        return
    stop.result = result  # type: ignore[attr-defined]
    stop.add_note(
        f"{len(result.candidates)} fitted structures are kept in the `result` "
        "attribute of this exception (sys.last_value.result at the prompt)"
    )


def _last_step(progress: Progress, rows: int, n: int) -> str:
    """What became of the finalists of a search on some rows, in words."""
    if not progress.finished:
        reasons = dict.fromkeys(s.error for s in progress.converged if s.error)
        why = f" ({'; '.join(reasons)})" if reasons else ""
        return f"and none fitted to more{why}: evidences and models are of these"
    if rows == n:
        return "and the best fitted to all"
    return (
        f"and the best fitted to {rows}, which evidences and models are of: bokern.fit "
        "fits one to all"
    )
